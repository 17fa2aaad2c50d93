-- Locks dedup keys, whether or not they are in use: a new one gets its row here.
-- Parameters: $1 tenant[], $2 topic[], $3 dedup_key[]; each once
-- Lock order: message_keys in ascending (topic_id, dedup_key), after topics and before messages
insert into tenure.message_keys (topic_id, dedup_key, id, expires_ms)
select t.topic_id, item.dedup_key, '00000000-0000-0000-0000-000000000000', 0
  from unnest($1::text[], $2::text[], $3::text[]) as item (tenant, topic, dedup_key)
  join tenure.topics t on t.tenant = item.tenant and t.name = item.topic
 order by t.topic_id, item.dedup_key collate "C"
on conflict (topic_id, dedup_key) do update set id = excluded.id where false
