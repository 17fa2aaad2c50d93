-- Locks the runs that wait, of jobs of which a run has ended, and their messages, as lock_waiting.sql does.
-- Parameters: $1 job_id[]; each once. Result: id, job_id, made_ms
-- Lock order: job_runs and messages with SKIP LOCKED: it waits for nobody
select r.id, r.job_id, r.made_ms
  from unnest($1::uuid[]) as item (job_id) join tenure.job_runs r on r.job_id = item.job_id and r.state = 1
  join tenure.messages m on m.id = r.id
   for update of r, m skip locked
