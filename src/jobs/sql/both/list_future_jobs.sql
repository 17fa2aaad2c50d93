-- Jobs with a next time from an expression, page by page. Parameters: $1 behind this tenant, $2 and this name, $3 limit
-- Result: the columns of a job (kJobColumns in src/jobs/job.hpp), without the length of its payload
select id, tenant, name, topic, cron, every_ms, zone, headers, priority, enabled, missed, missed_window_ms, missed_cap,
       overlap, gap, repeat, jitter_ms, starts_ms, ends_ms, watch, 0, origin, revision, created_ms, changed_ms,
       since_ms, next_ms, look_ms, paused_ms, paused_until_ms, paused_reason
  from tenure.jobs
 where next_ms > 0 and cron <> '' and (tenant > $1::text or (tenant = $1::text and name > $2::text))
 order by tenant, name limit $3::bigint
