-- What dedup keys stand for from now on, under their locks.
-- Parameters: $1 queue_id[], $2 dedup_key[], $3 id[], $4 session_id[], $5 sequence[], $6 expires_ms[]; each key once
update tenure.queue_keys k
   set id = item.id, session_id = item.session_id, sequence = item.sequence, expires_ms = item.expires_ms
  from unnest($1::bigint[], $2::text[], $3::uuid[], $4::uuid[], $5::bigint[], $6::bigint[])
       as item (queue_id, dedup_key, id, session_id, sequence, expires_ms)
 where k.queue_id = any (array[item.queue_id]) and k.dedup_key = item.dedup_key
