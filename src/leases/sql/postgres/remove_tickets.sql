-- Removes tickets. Parameters: $1 tenant[], $2 name[], $3 term[]; each once
-- Lock order: under the locks of lock_names.sql
delete from tenure.lease_tickets t
 using unnest($1::text[], $2::text[], $3::uuid[]) as item (tenant, name, term)
 where t.tenant = any (array[item.tenant]) and t.name = item.name and t.term = item.term
