-- Whether a holding is there; the write transaction is its lock. ?1 session_id. Result: 1
select 1 from seats where session_id = ?1
