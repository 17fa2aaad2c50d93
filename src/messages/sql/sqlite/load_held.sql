-- A message that is still in the hands it was given to, whole. ?1 id, ?2 fence
-- Result: payload_kind, payload, attempts, crashes, enqueued_ms, due_ms, correlation_id, headers, trace, line,
-- lease_until_ms, topic
select m.payload_kind, m.payload, m.attempts, m.crashes, m.enqueued_ms, m.due_ms, m.correlation_id, m.headers, m.trace,
       m.line, m.lease_until_ms, t.name
  from messages m join topics t on t.topic_id = m.topic_id
 where m.id = ?1 and m.fence = ?2 and m.lease_until_ms > 0
