-- The runs of a job that are not over. Parameters: $1 job_id. Result: id
select id from tenure.job_runs where job_id = $1::uuid and (state = 0 or state = 1)
