-- Names in order, from a place on, with those among them that were not used for long and may go.
-- Locks the latter: they stay as they are until the floor is raised and they are deleted.
-- Parameters: $1 tenant, $2 name: behind which to look, $3 unused since this ms, $4 how many names to look at
-- Result: tenant, name, fence, idle (1: locked, may go)
-- Lock order: leases with SKIP LOCKED: it waits for nobody, a guard included
with page as (
  select tenant, name, fence, expires_ms, term
    from tenure.leases
   where (tenant, name) > ($1::text, $2::text)
   order by tenant, name
   limit $4::bigint
), idle as (
  select l.tenant, l.name
    from page
    join tenure.leases l on l.tenant = any (array[page.tenant]) and l.name = page.name
   where page.expires_ms < $3::bigint and l.expires_ms < $3::bigint
     and not exists (select from tenure.lease_tickets t
                      where t.tenant = any (array[l.tenant]) and t.name = l.name)
     for update of l skip locked
)
select page.tenant, page.name, page.fence, (idle.name is not null)::int::bigint
  from page left join idle on idle.tenant = page.tenant and idle.name = page.name
 order by page.tenant, page.name
