-- The dead letters of a session from a place on are messages again. Parameters: $1 session_id, $2 from
-- Lock order: under the lock of the session, and those of lock_between.sql
delete from tenure.queue_dead where session_id = $1::uuid and sequence >= $2::bigint
