-- Jobs of a tenant by name, each with its latest run that was not skipped.
-- $1 tenant, $2 name ('': any), $3 behind this name, $4 topic ('': any), $5 enabled (-1: any), $6 limit
-- Result: the columns of a job (kJobColumns in src/jobs/job.hpp), payload, nominal_ms, id and status (RunStatus) of its
-- latest run; null: it has none
-- Locks: none
select j.id, j.tenant, j.name, j.topic, j.cron, j.every_ms, j.zone, j.headers, j.priority, j.enabled, j.missed, j.missed_window_ms, j.missed_cap,
       j.overlap, j.gap, j.repeat, j.jitter_ms, j.starts_ms, j.ends_ms, j.watch, octet_length(j.payload), j.origin, j.revision, j.created_ms, j.changed_ms,
       j.since_ms, j.next_ms, j.look_ms, j.paused_ms, j.paused_until_ms, j.paused_reason,
       j.payload, last.nominal_ms, last.id, last.status
  from tenure.jobs j
  left join lateral (
    select r.nominal_ms, r.id,
           case r.state when 0 then case when m.lease_until_ms > 0 then 2 when m.pos = 0 and m.attempts + m.crashes > 0 then 3
                                     else 0 end
                    when 1 then 1 else r.state + 2 end as status
      from (select l.* from tenure.job_runs l where l.job_id = j.id and l.state <> 4
             order by l.nominal_ms desc, l.id desc limit 1) as r
      left join tenure.messages m on m.id = r.id and r.state < 2) as last on true
 where j.tenant = $1::text and j.revision > 0 and ($2::text = '' or j.name = $2::text)
   and j.name > $3::text and ($4::text = '' or j.topic = $4::text) and ($5::bigint < 0 or j.enabled = $5::bigint)
 order by j.name
 limit $6::bigint
