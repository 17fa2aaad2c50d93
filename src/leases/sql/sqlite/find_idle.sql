-- Names in order, from a place on, with those among them that were not used for long and may go.
-- ?1 tenant, ?2 name: behind which to look, ?3 unused since this ms, ?4 how many names to look at
-- Result: tenant, name, fence, idle (1: may go)
select l.tenant, l.name, l.fence,
       (l.expires_ms < ?3
        and not exists (select 1 from lease_tickets t where t.tenant = l.tenant and t.name = l.name))
  from leases l
 where (l.tenant, l.name) > (?1, ?2)
 order by l.tenant, l.name
 limit ?4
