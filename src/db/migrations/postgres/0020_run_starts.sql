-- oldest program: 0.1.0
-- When work on a run began: the time of its first claim. 0: claimed_ms says it, or nobody has begun. Written when the run
-- is to be done again, which forgets the claim (src/jobs/sql/postgres/start_runs.sql).
alter table tenure.job_runs add column started_ms bigint not null default 0;
