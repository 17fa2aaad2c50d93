-- Deletes names that were found idle and are locked. Parameters: $1 tenant[], $2 name[]; each once
-- Lock order: under the locks of find_idle.sql
delete from tenure.leases l
 using unnest($1::text[], $2::text[]) as item (tenant, name)
 where l.tenant = item.tenant and l.name = item.name
