-- Finished messages whose time is over. ?1 now_ms, ?2 limit. Result: a row for each
delete from finished_messages
 where id in (select id from finished_messages where forget_ms <= ?1 order by forget_ms limit ?2) returning 1
