-- Takes part in the grants with these fences until the transaction ends: no takeover meanwhile (as
-- tenure.check_fence). The caller reads the clock in the next statement and judges the deadlines itself.
-- Parameters: $1 tenant[], $2 name[], $3 fence[]; each once
-- Result: ordinal, expires_ms; no row for a stale fence
-- Lock order: leases FOR KEY SHARE, before every other lock of the transaction
select item.ordinal, l.expires_ms
  from unnest($1::text[], $2::text[], $3::bigint[]) with ordinality as item (tenant, name, fence, ordinal)
  join tenure.leases l on l.tenant = any (array[item.tenant]) and l.name = item.name
                      and l.fence = item.fence
 where l.term is not null
 order by item.tenant collate "C", item.name collate "C"
   for key share of l
