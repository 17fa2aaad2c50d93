-- Dedup keys whose time is over. ?1 now_ms, ?2 limit. Result: a row for each
delete from queue_keys
 where rowid in (select rowid from queue_keys where expires_ms <= ?1 order by expires_ms limit ?2) returning 1
