-- Locks jobs by their names. Parameters: $1 tenant[], $2 name[]; each once, ascending
-- Result: ordinal, the columns of a job (kJobColumns in src/jobs/job.hpp); no row of one that is not there
-- What was changed while it was waited for is read as it is now. No user's transaction locks a job.
-- Lock order: jobs, ascending (tenant, name), before runs and messages
select item.ordinal, j.id, j.tenant, j.name, j.topic, j.cron, j.every_ms, j.zone, j.headers, j.priority, j.enabled, j.missed, j.missed_window_ms, j.missed_cap,
       j.overlap, j.gap, j.repeat, j.jitter_ms, j.starts_ms, j.ends_ms, j.watch, octet_length(j.payload), j.origin, j.revision, j.created_ms, j.changed_ms,
       j.since_ms, j.next_ms, j.look_ms, j.paused_ms, j.paused_until_ms, j.paused_reason
  from unnest($1::text[], $2::text[]) with ordinality as item (tenant, name, ordinal)
  join tenure.jobs j on j.tenant = item.tenant and j.name = item.name
 order by item.ordinal
   for no key update of j
