-- Runs that wait, where it is time to look whether they still have to. ?1 now_ms, ?2 how many. Result: id, job_id, made_ms
select id, job_id, made_ms from job_runs where state = 1 and look_ms <= ?1 order by look_ms limit ?2
