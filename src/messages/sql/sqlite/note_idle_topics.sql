-- Notes since when topics may be idle, of those that were opened or changed since the last look. ?1 now_ms, ?2 limit
-- Result: a row for each
update topics set idle_ms = ?1
 where topic_id in (select topic_id from topics where idle_ms = 0 and closed_ms = 0 limit ?2) returning 1
