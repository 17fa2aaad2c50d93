-- Locks dedup keys, whether or not they are in use. Parameters: $1 queue_id[], $2 dedup_key[]; each pair once
-- Lock order: after the bots lock, before the gate and sessions; ascending (queue_id, dedup_key)
insert into tenure.queue_keys (queue_id, dedup_key, id, session_id, sequence, expires_ms)
select item.queue_id, item.dedup_key, '00000000-0000-0000-0000-000000000000', '00000000-0000-0000-0000-000000000000', 0, 0
  from unnest($1::bigint[], $2::text[]) as item (queue_id, dedup_key)
 order by item.queue_id, item.dedup_key collate "C"
on conflict (queue_id, dedup_key) do update set sequence = 0 where false
