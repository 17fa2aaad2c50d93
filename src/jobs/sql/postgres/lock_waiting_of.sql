-- Locks the runs that wait, of jobs of which a run has ended. Parameters: $1 job_id[]; each once. Result: id, job_id, made_ms
-- Lock order: job_runs with SKIP LOCKED: it waits for nobody
select r.id, r.job_id, r.made_ms
  from unnest($1::uuid[]) as item (job_id) join tenure.job_runs r on r.job_id = item.job_id and r.state = 1
   for update of r skip locked
