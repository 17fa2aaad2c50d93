-- Runs that waited wait no more. Parameters: $1 id[]. Lock order: under the locks of lock_waiting.sql
update tenure.job_runs set state = 0, look_ms = 0 where id = any ($1::uuid[]) and state = 1
