-- The latest run of a job that is not over; the write transaction is the lock. ?1 job_id. Result: id
select id from job_runs where job_id = ?1 and state = 0 order by nominal_ms desc limit 1
