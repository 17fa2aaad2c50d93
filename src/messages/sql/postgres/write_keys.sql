-- What dedup keys stand for from now on. Under the locks of lock_keys.sql.
-- Parameters: $1 tenant[], $2 topic[], $3 dedup_key[], $4 id[], $5 expires_ms[]; each key once
update tenure.message_keys k set id = item.id, expires_ms = item.expires_ms
  from unnest($1::text[], $2::text[], $3::text[], $4::uuid[], $5::bigint[])
       as item (tenant, topic, dedup_key, id, expires_ms)
  join tenure.topics t on t.tenant = item.tenant and t.name = item.topic
 where k.topic_id = any (array[t.topic_id]) and k.dedup_key = any (array[item.dedup_key])
