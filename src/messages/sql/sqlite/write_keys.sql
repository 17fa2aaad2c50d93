-- What a dedup key stands for from now on. ?1 tenant, ?2 topic, ?3 dedup_key, ?4 id, ?5 expires_ms
insert into message_keys (topic_id, dedup_key, id, expires_ms)
select topic_id, ?3, ?4, ?5 from topics where tenant = ?1 and name = ?2
on conflict (topic_id, dedup_key) do update set id = excluded.id, expires_ms = excluded.expires_ms
