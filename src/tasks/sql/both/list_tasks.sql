-- All tasks of a tenant with their locks. Parameters: $1 tenant
-- Result: name, interval_ms, next_ms, not_before_ms, asked_ms, last_nominal_ms, last_started_ms, last_finished_ms,
-- last_error, failures, runs, skipped, holder, fence, granted_ms, expires_ms (of the lock; granted_ms 0: not held)
-- Locks: none
select t.name, t.interval_ms, t.next_ms, t.not_before_ms, t.asked_ms, t.last_nominal_ms, t.last_started_ms,
       t.last_finished_ms, t.last_error, t.failures, t.runs, t.skipped,
       coalesce(l.holder, ''), coalesce(l.fence, 0), coalesce(l.granted_ms, 0), coalesce(l.expires_ms, 0)
  from tenure.tasks t
  left join tenure.leases l on l.tenant = t.tenant and l.name = 'task/' || t.name and l.term is not null
 where t.tenant = $1::text
 order by t.name
 limit 1000
