-- The front of each name's line, dead tickets included.
-- Parameters: $1 tenant[], $2 name[]; each once; $3 how many of a line at most
-- Result: ordinal, number, term, process, expires_ms; ascending by number within a name
-- Locks: none; under those of lock_names.sql
select item.ordinal, t.number, t.term, t.process, t.expires_ms
  from unnest($1::text[], $2::text[]) with ordinality as item (tenant, name, ordinal)
 cross join lateral (select * from tenure.lease_tickets t
                      where t.tenant = item.tenant and t.name = item.name
                      order by t.number
                      limit $3::bigint) t
 order by item.ordinal, t.number
