-- Dead letters that were redriven long ago. Parameters: $1 redriven before, $2 limit. Result: a row for each
with old as (select id from tenure.dead_letters where redriven_ms > 0 and redriven_ms <= $1 order by redriven_ms
             limit $2 for update skip locked)
delete from tenure.dead_letters d using old where d.id = old.id returning 1
