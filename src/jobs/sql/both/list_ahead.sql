-- The nominal times of a job, from its next one on, that have a run already: a backfill may make some in a pause, and
-- before a delayed job fires. Parameters: $1 job_id, $2 next_ms. Result: nominal_ms
-- Locks: none; under the job's
select nominal_ms from tenure.job_runs
 where job_id = $1::uuid and nominal_ms >= $2::bigint and kind <> 1 and state <> 4
