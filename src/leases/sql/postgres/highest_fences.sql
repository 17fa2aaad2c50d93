-- The highest fence that names were ever given, as far as the store knows: for fences that are not live.
-- Parameters: $1 tenant[], $2 name[]
-- Result: ordinal, fence
-- Locks: none
select item.ordinal, greatest(coalesce(l.fence, 0), coalesce(f.fence, 0))
  from unnest($1::text[], $2::text[]) with ordinality as item (tenant, name, ordinal)
  left join tenure.leases l on l.tenant = any (array[item.tenant]) and l.name = item.name
  left join tenure.lease_floors f on f.tenant = item.tenant
