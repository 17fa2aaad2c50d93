-- Messages that are still in the hands they were given to, whole. Parameters: $1 id[], $2 fence[]; each once
-- Result: ordinal, payload_kind, payload, attempts, crashes, enqueued_ms, due_ms, correlation_id, headers, trace,
-- line, lease_until_ms, topic
-- Locks: none
select item.ordinal, m.payload_kind, m.payload, m.attempts, m.crashes, m.enqueued_ms, m.due_ms, m.correlation_id,
       m.headers, m.trace, m.line, m.lease_until_ms, t.name
  from unnest($1::uuid[], $2::bigint[]) with ordinality as item (id, fence, ordinal)
  join tenure.messages m on m.id = any (array[item.id]) and m.fence = item.fence and m.lease_until_ms > 0
  join tenure.topics t on t.topic_id = m.topic_id
