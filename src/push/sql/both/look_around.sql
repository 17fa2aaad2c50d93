-- What a process that delivers must know of all subscriptions that are delivered: which there are, whether one has
-- changed, and until when somebody has it. Parameters: $1 how many at most
-- Result: tenant, name, id, revision, expires_ms (0: nobody has it)
-- Locks: none
select s.tenant, s.name, s.id, s.revision, coalesce(l.expires_ms, 0)
  from tenure.subscriptions s
  left join tenure.leases l on l.tenant = s.tenant and l.name = 'push/' || s.name and l.term is not null
 where s.enabled = 1 and s.gone_ms = 0
 order by s.tenant, s.name
 limit $1::bigint
