-- The run that waits, of a job of which a run has ended. ?1 job_id. Result: id, job_id, made_ms
select id, job_id, made_ms from job_runs where job_id = ?1 and state = 1
