-- Dead letters that were redriven long ago. ?1 redriven before, ?2 limit. Result: a row for each
delete from dead_letters
 where id in (select id from dead_letters where redriven_ms > 0 and redriven_ms <= ?1 order by redriven_ms limit ?2)
returning 1
