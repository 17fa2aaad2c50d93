-- Locks the subscriptions of a batch that are there. Parameters: $1 tenant[], $2 name[]; each once
-- Lock order: ascending (tenant, name)
select 1 from tenure.subscriptions s
  join unnest($1::text[], $2::text[]) as item (tenant, name) on s.tenant = item.tenant and s.name = item.name
 order by s.tenant, s.name
   for no key update of s
