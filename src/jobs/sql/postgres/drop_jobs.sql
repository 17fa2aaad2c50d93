-- Parameters: $1 id[]. Lock order: under the locks of lock_jobs.sql
delete from tenure.jobs where id = any ($1::uuid[])
