-- What a dedup key stands for. ?1 queue_id, ?2 dedup_key. Result: id, session_id, sequence, expires_ms (past: the key is free)
select id, session_id, sequence, expires_ms from queue_keys where queue_id = ?1 and dedup_key = ?2
