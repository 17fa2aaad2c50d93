-- A message that is done, where its topic keeps them. Parameters: $1 id, $2 tenant
-- Result: topic, fence, attempts, crashes, enqueued_ms, finished_ms, correlation_id, output
select t.name, f.fence, f.attempts, f.crashes, f.enqueued_ms, f.finished_ms, f.correlation_id, f.output
  from tenure.finished_messages f join tenure.topics t on t.topic_id = f.topic_id and t.tenant = $2::text
 where f.id = $1::uuid
