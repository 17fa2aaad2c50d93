-- The dead letters of a session from a place on. ?1 session_id, ?2 from. Result: sequence
select sequence from queue_dead where session_id = ?1 and sequence >= ?2
