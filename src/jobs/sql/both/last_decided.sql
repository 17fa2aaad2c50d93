-- The latest nominal time of a job that was decided: it has a run of the schedule, or was left out.
-- Parameters: $1 job_id. Result: nominal_ms; no row: none is on record
-- Locks: none; under the job's
select nominal_ms from tenure.job_runs where job_id = $1::uuid and kind = 0 order by nominal_ms desc limit 1
