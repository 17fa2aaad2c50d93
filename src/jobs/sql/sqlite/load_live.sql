-- What runs of a job are not over. ?1 job_id
-- Result: the latest one that is ready, claimed or to be retried (null: none), whether one waits
select (select r.id from job_runs r where r.job_id = ?1 and r.state = 0 order by r.nominal_ms desc limit 1),
       exists (select 1 from job_runs r where r.job_id = ?1 and r.state = 1)
