-- What a consumer keeps with a session is forgotten. Parameters: $1 session_id
-- Lock order: under the lock of the session
delete from tenure.queue_session_states where session_id = $1::uuid
