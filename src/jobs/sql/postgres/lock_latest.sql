-- Locks the latest run of each job that is not over, so that it cannot end before this transaction does: whoever ends it
-- then finds the run that waits for it (src/jobs/run_ends.hpp). One that is being ended at this moment is passed over.
-- Parameters: $1 job_id[]; each once. Result: id of each that is locked
-- Lock order: job_runs after jobs, with SKIP LOCKED: it waits for nobody
select r.id
  from unnest($1::uuid[]) as item (job_id)
  cross join lateral (select l.id from tenure.job_runs l where l.job_id = item.job_id and l.state = 0
                       order by l.nominal_ms desc limit 1) as latest
  join tenure.job_runs r on r.id = latest.id and r.state = 0
   for update of r skip locked
