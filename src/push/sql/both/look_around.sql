-- What a process that delivers must know of all subscriptions that are delivered: which there are, whether one has
-- changed, and until when somebody has it. Where there are more than it takes, each tenant has its share: the first of every
-- tenant comes before anybody's second. Parameters: $1 how many at most
-- Result: tenant, name, id, revision, expires_ms (0: nobody has it)
-- Locks: none
select s.tenant, s.name, s.id, s.revision, coalesce(l.expires_ms, 0)
  from (select tenant, name, id, revision, row_number() over (partition by tenant order by name) as place
          from tenure.subscriptions where enabled = 1 and gone_ms = 0) as s
  left join tenure.leases l on l.tenant = s.tenant and l.name = 'push/' || s.name and l.term is not null
 order by s.place, s.tenant
 limit $1::bigint
