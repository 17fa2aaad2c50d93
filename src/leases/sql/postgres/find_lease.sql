-- One name as anybody may see it. Parameters: $1 tenant[], $2 name[]; each once; $3 now_ms
-- Result: ordinal, name, fence, term, holder, metadata, ttl_ms, granted_ms, renewed_ms, expires_ms, break_reason,
-- waiters; no row for a name that was never granted
-- Locks: none
select item.ordinal, l.name, l.fence, l.term, l.holder, l.metadata, l.ttl_ms, l.granted_ms, l.renewed_ms, l.expires_ms,
       l.break_reason,
       (select count(*) from tenure.lease_tickets t
         where t.tenant = l.tenant and t.name = l.name and t.expires_ms > $3::bigint)
  from unnest($1::text[], $2::text[]) with ordinality as item (tenant, name, ordinal)
  join tenure.leases l on l.tenant = any (array[item.tenant]) and l.name = item.name
 where l.fence > 0
