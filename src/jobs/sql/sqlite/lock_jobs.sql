-- A job by its name; the write transaction is the lock. ?1 tenant, ?2 name
-- Result: the columns of a job (kJobColumns in src/jobs/job.hpp)
select id, tenant, name, topic, cron, every_ms, zone, headers, priority, enabled, missed, missed_window_ms, missed_cap,
       overlap, gap, repeat, jitter_ms, starts_ms, ends_ms, watch, length(cast(payload as blob)), origin, revision, created_ms, changed_ms,
       since_ms, next_ms, look_ms, paused_ms, paused_until_ms, paused_reason
  from jobs where tenant = ?1 and name = ?2
