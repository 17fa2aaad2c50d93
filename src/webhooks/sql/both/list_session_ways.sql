-- What became of an event's messages of sessions. Parameters: $1 event_id, $2 tenant, $3 how many at most
-- Result: bot, key, printed name, session_id, sequence, message id, copy, state of the session, head, handed, why it is dead (-1: it
-- is not), whether it is a replay
-- Locks: none
select q.name, s.key, s.name, s.session_id, m.sequence, m.id, m.copy, s.state, s.head, s.handed, coalesce(d.reason, -1),
       case when m.replay_of is null then 0 else 1 end
  from tenure.queue_messages m
  join tenure.queue_sessions s on s.session_id = m.session_id
  join tenure.queues q on q.queue_id = s.queue_id
  left join tenure.queue_dead d on d.session_id = m.session_id and d.sequence = m.sequence
 where m.event_id = $1::uuid and q.tenant = $2::text
 order by q.name, m.id
 limit $3::bigint
