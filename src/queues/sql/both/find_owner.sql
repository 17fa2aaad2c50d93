-- The queue of a session that is known by its id alone. Parameters: $1 tenant, $2 session_id
-- Result: the queue's name
-- Locks: none
select q.name
  from tenure.queue_sessions s join tenure.queues q on q.queue_id = s.queue_id
 where s.session_id = $2::uuid and q.tenant = $1::text and q.state < 2
