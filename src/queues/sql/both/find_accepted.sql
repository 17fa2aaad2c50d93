-- What is held under an accept's id. Parameters: $1 accept_id, $2 queue_id, $3 consumer. Result: session_id
-- Locks: none
select session_id from tenure.queue_sessions
 where accept_id = $1::uuid and queue_id = $2::bigint and consumer = $3::text and state = 2
