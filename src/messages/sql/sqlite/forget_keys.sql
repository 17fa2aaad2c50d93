-- Dedup keys whose time is over. ?1 now_ms, ?2 limit. Result: a row for each
delete from message_keys
 where (topic_id, dedup_key) in (select topic_id, dedup_key from message_keys where expires_ms <= ?1
                                  order by expires_ms limit ?2) returning 1
