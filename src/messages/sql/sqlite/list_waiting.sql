-- Messages that wait for their time, in its order. A page looks at ?6 of all tenants' at most: where it ends for that,
-- the last row (shown 0) says how far it came.
-- Parameters: ?1 tenant, ?2 topic ('': any), behind this one: ?3 due_ms, ?4 id, ?5 limit, ?6 messages to look at
-- Result: shown, line, pos, due_ms, id, topic, fence, attempts, crashes, enqueued_ms, claimed_ms, lease_until_ms, owner,
-- worker_until_ms, bytes of the payload, error, correlation_id
with looked as materialized (
  select m.* from messages m
   where m.pos = 0 and m.due_ms >= ?3 and (m.due_ms, m.id) > (?3, ?4)
   order by m.due_ms, m.id limit ?6)
select * from (
  select 1 as shown, m.line, m.pos, m.due_ms, m.id, t.name, m.fence, m.attempts, m.crashes, m.enqueued_ms, m.claimed_ms,
         m.lease_until_ms, '', 0, length(m.payload), m.error, m.correlation_id
    from looked m join topics t on t.topic_id = m.topic_id
   where t.tenant = ?1 and (?2 = '' or t.name = ?2)
   order by m.due_ms, m.id limit ?5)
union all
select * from (
  select 0, m.line, m.pos, m.due_ms, m.id, '', 0, 0, 0, 0, 0, 0, '', 0, 0, '', ''
    from looked m where (select count(*) from looked) = ?6
   order by m.due_ms desc, m.id desc limit 1)
order by 1 desc, 4, 5
