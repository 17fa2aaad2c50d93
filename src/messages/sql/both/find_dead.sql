-- A dead letter. Parameters: $1 id, $2 tenant
-- Result: topic, priority, fence, attempts, crashes, enqueued_ms, died_ms, reason, error, correlation_id, headers, trace,
-- payload_kind, payload
select t.name, d.priority, d.fence, d.attempts, d.crashes, d.enqueued_ms, d.died_ms, d.reason, d.error, d.correlation_id,
       d.headers, d.trace, d.payload_kind, d.payload
  from tenure.dead_letters d join tenure.topics t on t.topic_id = d.topic_id
 where d.id = $1::uuid and d.tenant = $2::text and d.redriven_ms = 0
