-- What a dedup key stands for, and how long the topic remembers one. ?1 tenant, ?2 topic, ?3 dedup_key
-- Result: id, expires_ms (0: the key is free), dedup_ms of the topic
select coalesce(k.id, zeroblob(16)), coalesce(k.expires_ms, 0), t.dedup_ms
  from topics t left join message_keys k on k.topic_id = t.topic_id and k.dedup_key = ?3
 where t.tenant = ?1 and t.name = ?2
