-- Messages of a topic that stand in its lines, in the order in which they are handed out. Some share a place: then by
-- id. A page looks at ?8 of them at most: where it ends for that, the last row (shown 0) says how far it came.
-- The index of the lines has what is ready; what is claimed is found by its claims.
-- Parameters: ?1 tenant, ?2 topic, ?3 state (0: any, 1: ready, 2: claimed), behind this one: ?4 line, ?5 pos,
-- ?6 id, ?7 limit, ?8 messages to look at
-- Result: shown, line, pos, due_ms, id, topic, fence, attempts, crashes, enqueued_ms, claimed_ms, lease_until_ms, owner,
-- worker_until_ms, bytes of the payload, error, correlation_id
with recursive claimed (messages, place) as (
  select c.messages, 0 from message_claims c where c.tenant = ?1 and ?3 <> 1
  union all
  select messages, place + 24 from claimed where place + 24 < length(messages)),
looked as materialized (
  select * from (
    select m.* from messages m
     where ?3 <> 2 and m.topic_id = (select t.topic_id from topics t where t.tenant = ?1 and t.name = ?2)
       and m.pos > 0 and m.lease_until_ms = 0 and (m.line, m.pos, m.id) > (?4, ?5, ?6)
     order by m.line, m.pos, m.id limit ?8)
  union all
  select * from (
    select m.* from claimed c join messages m on m.id = substr(c.messages, c.place + 1, 16)
     where hex(substr(c.messages, c.place + 17, 8)) = printf('%016X', m.fence)
       and m.topic_id = (select t.topic_id from topics t where t.tenant = ?1 and t.name = ?2)
       and m.pos > 0 and m.lease_until_ms > 0 and (m.line, m.pos, m.id) > (?4, ?5, ?6))
   order by line, pos, id limit ?8)
select * from (
  select 1 as shown, m.line, m.pos, m.due_ms, m.id, ?2, m.fence, m.attempts, m.crashes, m.enqueued_ms, m.claimed_ms,
         m.lease_until_ms, coalesce(w.owner, o.owner, ''), coalesce(w.expires_ms, 0), length(m.payload), m.error,
         m.correlation_id
    from looked m
    left join message_workers w on w.worker = m.worker
    left join message_owners o on o.worker = m.worker
   order by m.line, m.pos, m.id limit ?7)
union all
select * from (
  select 0, m.line, m.pos, 0, m.id, '', 0, 0, 0, 0, 0, 0, '', 0, 0, '', ''
    from looked m where (select count(*) from looked) = ?8
   order by m.line desc, m.pos desc, m.id desc limit 1)
order by 1 desc, 2, 3, 5
