-- What runs of jobs are not over. Parameters: $1 job_id[]; each once
-- Result: ordinal, the latest one that is ready, claimed or to be retried (null: none), whether one waits
-- Locks: none; after the locks of the jobs, as a statement of its own
select item.ordinal,
       (select r.id from tenure.job_runs r where r.job_id = item.job_id and r.state = 0 order by r.nominal_ms desc limit 1),
       case when exists (select from tenure.job_runs r where r.job_id = item.job_id and r.state = 1) then 1 else 0 end
  from unnest($1::uuid[]) with ordinality as item (job_id, ordinal)
