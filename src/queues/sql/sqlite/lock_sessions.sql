-- Whether there is such a session: the one writer has locked everything. ?1 session_id. Result: a row
select 1 from queue_sessions where session_id = ?1
