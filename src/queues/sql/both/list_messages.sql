-- The messages of a session from a sequence on, history too. Parameters: $1 tenant, $2 queue, $3 session_id, $4 from, $5 how many
-- at most, $6 of which (0 all, 1 waiting, 2 parked, 3 done, 4 dead)
-- Result: the columns of a message (message.hpp), head of the session, 1: it is dead, 1: the session is parked
-- Locks: none
select m.sequence, m.id, m.event_id, m.payload_kind, m.payload, m.bytes, m.correlation_id, m.headers,
       m.trace, m.enqueued_ms, m.expires_ms, m.replay_of, m.copy, s.head,
       (select count(*) from tenure.queue_dead d where d.session_id = m.session_id and d.sequence = m.sequence),
       case s.state when 3 then 1 else 0 end
  from tenure.queues q
  join tenure.queue_sessions s on s.queue_id = q.queue_id and s.session_id = $3::uuid
  join tenure.queue_messages m on m.session_id = s.session_id
 where q.tenant = $1::text and q.name = $2::text and m.sequence >= $4::bigint
   and ($6::bigint in (0, 4) or (m.sequence < s.head) = ($6::bigint = 3))
   and ($6::bigint not in (1, 2) or (s.state = 3 and m.sequence = s.head) = ($6::bigint = 2))
   and ($6::bigint not in (3, 4) or exists (select 1 from tenure.queue_dead d
                                             where d.session_id = m.session_id and d.sequence = m.sequence) = ($6::bigint = 4))
 order by m.sequence
 limit $5::bigint
