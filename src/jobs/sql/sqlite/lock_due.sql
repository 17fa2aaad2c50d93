-- Jobs that somebody must look at, in the order in which they are due. ?1 now_ms, ?2 how many
-- Result: the columns of a job (kJobColumns in src/jobs/job.hpp)
select id, tenant, name, topic, cron, every_ms, zone, headers, priority, enabled, missed, missed_window_ms, missed_cap,
       overlap, gap, repeat, jitter_ms, starts_ms, ends_ms, watch, length(cast(payload as blob)), origin, revision, created_ms, changed_ms,
       since_ms, next_ms, look_ms, paused_ms, paused_until_ms, paused_reason
  from jobs where look_ms > 0 and look_ms <= ?1 order by look_ms, name limit ?2
