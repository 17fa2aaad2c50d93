-- What a dedup key stands for from now on. ?1 queue_id, ?2 dedup_key, ?3 id, ?4 session_id, ?5 sequence, ?6 expires_ms
update queue_keys set id = ?3, session_id = ?4, sequence = ?5, expires_ms = ?6 where queue_id = ?1 and dedup_key = ?2
