-- Messages that wait for their time, in its order. A page looks at $6 of all tenants' at most: where it ends for that,
-- the last row (shown 0) says how far it came.
-- Parameters: $1 tenant, $2 topic ('': any), behind this one: $3 due_ms, $4 id, $5 limit, $6 messages to look at
-- Result: shown, line, pos, due_ms, id, topic, fence, attempts, crashes, enqueued_ms, claimed_ms, lease_until_ms, owner,
-- worker_until_ms, bytes of the payload, error, correlation_id
-- Locks: none
with looked as materialized (
  select m.* from tenure.messages m
   where m.pos = 0 and m.due_ms >= $3::bigint and (m.due_ms, m.id) > ($3::bigint, $4::uuid)
   order by m.due_ms, m.id limit $6::bigint)
(select 1 as shown, m.line, m.pos, m.due_ms, m.id, t.name, m.fence, m.attempts, m.crashes, m.enqueued_ms, m.claimed_ms,
        m.lease_until_ms, '', 0, octet_length(m.payload), m.error, m.correlation_id
   from looked m join tenure.topics t on t.topic_id = m.topic_id
  where t.tenant = $1::text and ($2::text = '' or t.name = $2::text)
  order by m.due_ms, m.id limit $5::bigint)
union all
(select 0, m.line, m.pos, m.due_ms, m.id, '', 0, 0, 0, 0, 0, 0, '', 0, 0, '', ''
   from looked m where (select count(*) from looked) = $6::bigint
  order by m.due_ms desc, m.id desc limit 1)
order by shown desc, due_ms, id
