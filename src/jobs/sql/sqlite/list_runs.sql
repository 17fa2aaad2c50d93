-- Runs of a job, the latest nominal time first. ?1 tenant, ?2 name, ?3 status (-1: any),
-- ?4 before this nominal_ms, ?5 or at it before this id, ?6 limit
-- Result: id, nominal_ms, kind, status (RunStatus), made_ms, ended_ms, claimed_ms, owner, attempts, crashes, output, error,
-- reason, blocker, first_ms, number, lease_until_ms, due_ms, worker_until_ms, started_ms (0: nobody has begun)
-- Locks: none
select r.id, r.nominal_ms, r.kind, case r.state when 0 then case when m.lease_until_ms > 0 then 2 when m.pos = 0 and m.attempts + m.crashes > 0 then 3
                                     else 0 end
                    when 1 then 1 else r.state + 2 end, r.made_ms, r.ended_ms,
       case when r.state < 2 then coalesce(m.claimed_ms, 0) else r.claimed_ms end,
       case when r.state < 2 then coalesce(w.owner, o.owner, '') else r.owner end,
       case when r.state < 2 then coalesce(m.attempts, 0) else r.attempts end,
       case when r.state < 2 then coalesce(m.crashes, 0) else r.crashes end, r.output,
       case when r.state < 2 then coalesce(m.error, '') else r.error end, r.reason, r.blocker, r.first_ms, r.number,
       coalesce(m.lease_until_ms, 0), coalesce(m.due_ms, 0), coalesce(w.expires_ms, 0),
       case when r.started_ms > 0 then r.started_ms when r.state > 1 then r.claimed_ms when m.lease_until_ms > 0 then m.claimed_ms
            else 0 end
  from jobs j
  join job_runs r on r.job_id = j.id
  left join messages m on m.id = r.id and r.state < 2
  left join message_workers w on w.worker = m.worker
  left join message_owners o on o.worker = m.worker
 where j.tenant = ?1 and j.name = ?2
   and (r.nominal_ms < ?4 or (r.nominal_ms = ?4 and r.id < ?5))
   and (?3 < 0 or case r.state when 0 then case when m.lease_until_ms > 0 then 2 when m.pos = 0 and m.attempts + m.crashes > 0 then 3
                                     else 0 end
                    when 1 then 1 else r.state + 2 end = ?3)
 order by r.nominal_ms desc, r.id desc
 limit ?6
