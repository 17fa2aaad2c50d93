-- One name as anybody may see it. ?1 tenant, ?2 name, ?3 now_ms
-- Result: name, fence, term, holder, metadata, ttl_ms, granted_ms, renewed_ms, expires_ms, break_reason, waiters,
-- incarnation_ms, freeze_ms, longest_ttl_ms; no row for a name that was never granted, except while such names are frozen:
-- then its fence is 0
select ?2, coalesce(l.fence, 0), l.term, l.holder, l.metadata, l.ttl_ms, l.granted_ms, l.renewed_ms,
       coalesce(l.expires_ms, 0), l.break_reason,
       (select count(*) from lease_tickets t where t.tenant = ?1 and t.name = ?2 and t.expires_ms > ?3),
       s.incarnation_ms, s.freeze_ms, coalesce(l.longest_ttl_ms, 0)
  from store s left join leases l on l.tenant = ?1 and l.name = ?2 and l.fence > 0
 where l.fence is not null or (s.incarnation_ms > 0 and s.incarnation_ms + s.freeze_ms > ?3)
