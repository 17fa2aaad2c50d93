-- Messages of a topic that stand in its lines, in the order in which they are handed out. Some may share a
-- place: then by id. A page looks at $8 of them at most: where it ends for that, the last row (shown 0) says how far it came.
-- Parameters: $1 tenant, $2 topic, $3 state (0: any, 1: ready, 2: claimed), behind this one: $4 line, $5 pos,
-- $6 id, $7 limit, $8 messages to look at
-- Result: shown, line, pos, due_ms, id, topic, fence, attempts, crashes, enqueued_ms, claimed_ms, lease_until_ms, owner,
-- worker_until_ms, bytes of the payload, error, correlation_id
-- Locks: none
with looked as materialized (
  select m.* from tenure.messages m
   where m.topic_id = (select t.topic_id from tenure.topics t where t.tenant = $1::text and t.name = $2::text)
     and m.pos > 0 and (m.line, m.pos, m.id) > ($4::bigint, $5::bigint, $6::uuid)
   order by m.line, m.pos, m.id limit $8::bigint)
(select 1 as shown, m.line, m.pos, m.due_ms, m.id, $2::text, m.fence, m.attempts, m.crashes, m.enqueued_ms, m.claimed_ms,
        m.lease_until_ms, coalesce(w.owner, o.owner, ''), coalesce(w.expires_ms, 0), octet_length(m.payload), m.error,
        m.correlation_id
   from looked m
   left join tenure.message_workers w on w.worker = m.worker
   left join tenure.message_owners o on o.worker = m.worker
  where $3::bigint = 0 or ($3::bigint = 2) = (m.lease_until_ms > 0)
  order by m.line, m.pos, m.id limit $7::bigint)
union all
(select 0, m.line, m.pos, 0, m.id, '', 0, 0, 0, 0, 0, 0, '', 0, 0, '', ''
   from looked m where (select count(*) from looked) = $8::bigint
  order by m.line desc, m.pos desc, m.id desc limit 1)
order by shown desc, line, pos, id
