-- A message that is to be done, and what stands in its way. Parameters: $1 id, $2 tenant
-- Result: topic, line, pos, fence, attempts, crashes, enqueued_ms, due_ms, claimed_ms, lease_until_ms, owner,
-- worker_until_ms, error, correlation_id, headers, trace, payload_kind, payload, paused_ms, paused_reason, asked_ms,
-- ready ones before it in its line (at most 1,000)
-- Locks: none
select t.name, m.line, m.pos, m.fence, m.attempts, m.crashes, m.enqueued_ms, m.due_ms, m.claimed_ms, m.lease_until_ms,
       coalesce(w.owner, o.owner, ''), coalesce(w.expires_ms, 0), m.error, m.correlation_id, m.headers, m.trace,
       m.payload_kind, m.payload, t.paused_ms, t.paused_reason, t.asked_ms,
       (select count(*) from (select from tenure.messages b
                               where m.pos > 0 and b.topic_id = m.topic_id and b.line = m.line and b.pos > 0
                                 and b.pos < m.pos and b.lease_until_ms = 0 limit 1000) as before)
  from tenure.messages m
  join tenure.topics t on t.topic_id = m.topic_id and t.tenant = $2::text
  left join tenure.message_workers w on w.worker = m.worker
  left join tenure.message_owners o on o.worker = m.worker
 where m.id = $1::uuid
