-- Locks runs that wait, where it is time to look whether they still have to.
-- Parameters: $1 now_ms, $2 how many. Result: id, job_id, made_ms
-- Lock order: job_runs with SKIP LOCKED: it waits for nobody
select id, job_id, made_ms from tenure.job_runs
 where state = 1 and look_ms <= $1::bigint order by look_ms limit $2::bigint for update skip locked
