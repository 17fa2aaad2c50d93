-- Which names are free, of those for which somebody waits here: a wake-up that was lost is made good by this look.
-- Parameters: $1 tenant[], $2 name[]; each once; $3 now_ms
-- Result: ordinal
-- Locks: none
select item.ordinal
  from unnest($1::text[], $2::text[]) with ordinality as item (tenant, name, ordinal)
  join tenure.leases l on l.tenant = any (array[item.tenant]) and l.name = item.name
 where l.term is null or l.expires_ms <= $3::bigint
