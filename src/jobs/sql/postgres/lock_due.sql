-- Locks jobs that somebody must look at, in the order in which they are due. One that another process looks at is passed
-- over. The condition is computed again under the lock: of two who found a job due, the second finds it decided. That is
-- the compare-and-set of the next time.
-- Parameters: $1 now_ms, $2 how many. Result: the columns of a job (kJobColumns in src/jobs/job.hpp)
-- Lock order: jobs with SKIP LOCKED, before runs and messages: it waits for nobody
select id, tenant, name, topic, cron, every_ms, zone, headers, priority, enabled, missed, missed_window_ms, missed_cap,
       overlap, gap, repeat, jitter_ms, starts_ms, ends_ms, watch, octet_length(payload), origin, revision, created_ms, changed_ms,
       since_ms, next_ms, look_ms, paused_ms, paused_until_ms, paused_reason
  from tenure.jobs
 where look_ms > 0 and look_ms <= $1::bigint
 order by look_ms, name
 limit $2::bigint
   for no key update skip locked
