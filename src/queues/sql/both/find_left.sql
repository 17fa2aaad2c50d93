-- Sessions of a queue that hold something or are held: in line, with a time at which somebody must look, or parked.
-- Parameters: $1 tenant, $2 queue, $3 how many at most
-- Result: session_id, messages
-- Locks: none
select f.session_id, f.next - f.head
  from (select s.session_id, s.next, s.head from tenure.queues q join tenure.queue_sessions s on s.queue_id = q.queue_id
         where q.tenant = $1::text and q.name = $2::text and s.position > 0
        union
        select s.session_id, s.next, s.head from tenure.queues q join tenure.queue_sessions s on s.queue_id = q.queue_id
         where q.tenant = $1::text and q.name = $2::text and s.due_ms > 0
        union
        select s.session_id, s.next, s.head from tenure.queues q join tenure.queue_sessions s on s.queue_id = q.queue_id
         where q.tenant = $1::text and q.name = $2::text and s.state = 3) as f
 order by f.session_id
 limit $3::bigint
