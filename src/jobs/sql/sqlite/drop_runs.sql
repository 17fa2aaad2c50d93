-- ?1 id
delete from job_runs where id = ?1
