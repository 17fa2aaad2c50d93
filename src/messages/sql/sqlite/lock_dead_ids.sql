-- A dead letter by its id. ?1 id, ?2 tenant. Result: id, topic, whether it is followed
select d.id, t.name, d.headers like '{"tenure-job"%' from dead_letters d join topics t on t.topic_id = d.topic_id
 where d.id = ?1 and d.tenant = ?2 and d.redriven_ms = 0
