-- Takes back rows that lock_names.sql made for names that were not granted after all (a renewal of an unknown name).
-- Parameters: $1 tenant[], $2 name[]; each once
-- Lock order: under the locks of lock_names.sql
delete from tenure.leases l
 using unnest($1::text[], $2::text[]) as item (tenant, name)
 where l.tenant = item.tenant and l.name = item.name and l.fence = 0
