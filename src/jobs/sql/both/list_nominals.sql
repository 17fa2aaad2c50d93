-- The nominal times of a job that have a run. Parameters: $1 job_id, $2 from_ms, $3 to_ms. Result: nominal_ms
-- Locks: none; under the job's
select nominal_ms from tenure.job_runs
 where job_id = $1::uuid and nominal_ms >= $2::bigint and nominal_ms < $3::bigint and kind <> 1 and state <> 4
