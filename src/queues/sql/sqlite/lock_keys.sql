-- Gives a dedup key its row. ?1 queue_id, ?2 dedup_key
insert into queue_keys (queue_id, dedup_key, id, session_id, sequence, expires_ms)
values (?1, ?2, zeroblob(16), zeroblob(16), 0, 0)
on conflict (queue_id, dedup_key) do nothing
