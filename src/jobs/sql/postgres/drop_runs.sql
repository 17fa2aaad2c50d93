-- Parameters: $1 id[]. Lock order: under the locks of their messages, which are gone
delete from tenure.job_runs where id = any ($1::uuid[])
