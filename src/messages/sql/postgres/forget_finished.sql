-- Finished messages whose time is over. Parameters: $1 now_ms, $2 limit. Result: a row for each
with old as (select id from tenure.finished_messages where forget_ms <= $1 order by forget_ms limit $2
             for update skip locked)
delete from tenure.finished_messages f using old where f.id = old.id returning 1
