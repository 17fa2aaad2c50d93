-- What dedup keys stand for. After the locks. Parameters: $1 queue_id[], $2 dedup_key[]; each pair once
-- Result: ordinal, id, session_id, sequence, expires_ms (past: the key is free)
-- Locks: none
select item.ordinal, k.id, k.session_id, k.sequence, k.expires_ms
  from unnest($1::bigint[], $2::text[]) with ordinality as item (queue_id, dedup_key, ordinal)
  join tenure.queue_keys k on k.queue_id = any (array[item.queue_id]) and k.dedup_key = item.dedup_key
