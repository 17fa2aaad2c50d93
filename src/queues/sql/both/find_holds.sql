-- The sessions that a consumer holds. Whatever is held has a time at which somebody must look. Parameters: $1 tenant, $2 queue,
-- $3 consumer
-- Result: session_id, fence; a thousand at most
-- Locks: none
select s.session_id, s.fence
  from tenure.queue_sessions s join tenure.queues q on q.queue_id = s.queue_id
 where q.tenant = $1::text and q.name = $2::text and s.due_ms > 0 and s.state = 2 and s.consumer = $3::text
 order by s.session_id
 limit 1000
