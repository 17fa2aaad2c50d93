-- When somebody must look at a job, and at a run that waits. Result: two times; null: never
select (select look_ms from tenure.jobs where look_ms > 0 order by look_ms limit 1),
       (select look_ms from tenure.job_runs where state = 1 order by look_ms limit 1)
