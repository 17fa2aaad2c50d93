-- What dedup keys stand for, and how long the topic remembers one. After the locks.
-- Parameters: $1 tenant[], $2 topic[], $3 dedup_key[]; each once
-- Result: ordinal, id, expires_ms (past: the key is free), dedup_ms of the topic
select item.ordinal, k.id, k.expires_ms, t.dedup_ms
  from unnest($1::text[], $2::text[], $3::text[]) with ordinality as item (tenant, topic, dedup_key, ordinal)
  join tenure.topics t on t.tenant = item.tenant and t.name = item.topic
  join tenure.message_keys k on k.topic_id = any (array[t.topic_id])
                            and k.dedup_key = any (array[item.dedup_key])
