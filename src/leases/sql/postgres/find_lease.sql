-- One name as anybody may see it. Parameters: $1 tenant[], $2 name[]; each once; $3 now_ms
-- Result: ordinal, name, fence, term, holder, metadata, ttl_ms, granted_ms, renewed_ms, expires_ms, break_reason,
-- waiters, incarnation_ms, freeze_ms, longest_ttl_ms; no row for a name that was never granted, except while such names are
-- frozen: then its fence is 0
-- Locks: none
select item.ordinal, item.name, coalesce(l.fence, 0), l.term, l.holder, l.metadata, l.ttl_ms, l.granted_ms, l.renewed_ms,
       coalesce(l.expires_ms, 0), l.break_reason,
       (select count(*) from tenure.lease_tickets t
         where t.tenant = item.tenant and t.name = item.name and t.expires_ms > $3::bigint),
       s.incarnation_ms, s.freeze_ms, coalesce(l.longest_ttl_ms, 0)
  from unnest($1::text[], $2::text[]) with ordinality as item (tenant, name, ordinal)
 cross join tenure.store s
  left join tenure.leases l on l.tenant = any (array[item.tenant]) and l.name = item.name and l.fence > 0
 where l.fence is not null or (s.incarnation_ms > 0 and s.incarnation_ms + s.freeze_ms > $3)
