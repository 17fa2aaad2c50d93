-- Looks again at runs that stay as the last of their jobs, when they may be others' by then.
-- $1 id[], $2 sweep_ms. Lock order: under the locks of find_old_runs.sql
update tenure.job_runs set sweep_ms = $2::bigint where id = any ($1::uuid[])
