-- Makes rows for jobs that are new; the insert is their lock. They have no times yet, and revision 0: nobody fires them,
-- and nobody else sees them before COMMIT. Of two transactions that make one job the second waits here for the first,
-- and then finds it there (lock_jobs.sql sees it, as a later statement).
-- Parameters: $1 id[], $2 tenant[], $3 name[]; each name once, ascending
-- Lock order: jobs, ascending (tenant, name)
insert into tenure.jobs (id, tenant, name, topic, cron, every_ms, zone, payload, headers, priority, enabled, missed,
                         missed_window_ms, missed_cap, overlap, gap, repeat, jitter_ms, starts_ms, ends_ms, watch, origin,
                         revision, created_ms, changed_ms, since_ms, next_ms, look_ms, paused_ms, paused_until_ms,
                         paused_reason)
select item.id, item.tenant, item.name, '', '', 0, 'UTC', 'null', '', 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
       0, 0, 0, ''
  from unnest($1::uuid[], $2::text[], $3::text[]) as item (id, tenant, name)
 where not exists (select from tenure.jobs j where j.tenant = item.tenant and j.name = item.name)
 order by item.tenant collate "C", item.name collate "C"
on conflict do nothing
