-- Jobs that ask to be watched: when they last succeeded, and for which time.
-- ?1 limit. Result: the columns of a job (kJobColumns in src/jobs/job.hpp), ended_ms and nominal_ms of
-- the last run that was done; null: there is none
-- Locks: none
select j.id, j.tenant, j.name, j.topic, j.cron, j.every_ms, j.zone, j.headers, j.priority, j.enabled, j.missed, j.missed_window_ms, j.missed_cap,
       j.overlap, j.gap, j.repeat, j.jitter_ms, j.starts_ms, j.ends_ms, j.watch, length(cast(j.payload as blob)), j.origin, j.revision, j.created_ms, j.changed_ms,
       j.since_ms, j.next_ms, j.look_ms, j.paused_ms, j.paused_until_ms, j.paused_reason,
       r.ended_ms, r.nominal_ms
  from jobs j
  left join job_runs r on r.id = (select l.id from job_runs l where l.job_id = j.id and l.state = 2
                                      order by l.nominal_ms desc, l.id desc limit 1)
 where j.watch = 1 and j.revision > 0
 order by j.tenant, j.name limit ?1
