-- The dead letters of a session from a place on, but for those that somebody replays or discards just now: they hold letters
-- before they wait for sessions, so nobody may wait for letters.
-- Parameters: $1 session_id, $2 from. Result: sequence
-- Lock order: under the lock of the session; passes over what is locked
select sequence from tenure.queue_dead where session_id = $1::uuid and sequence >= $2::bigint for update skip locked
