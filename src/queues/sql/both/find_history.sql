-- The messages of a session that are done, between two places. Parameters: $1 tenant, $2 queue, $3 session_id, $4 from, $5 to,
-- $6 how many at most
-- Result: sequence, bytes; in order
-- Locks: none
select m.sequence, m.bytes
  from tenure.queues q
  join tenure.queue_sessions s on s.queue_id = q.queue_id and s.session_id = $3::uuid
  join tenure.queue_messages m on m.session_id = s.session_id
 where q.tenant = $1::text and q.name = $2::text and m.sequence >= $4::bigint and m.sequence <= $5::bigint and m.sequence < s.head
 order by m.sequence
 limit $6::bigint
