-- One name as anybody may see it. ?1 tenant, ?2 name, ?3 now_ms
-- Result: name, fence, term, holder, metadata, ttl_ms, granted_ms, renewed_ms, expires_ms, break_reason, waiters
select l.name, l.fence, l.term, l.holder, l.metadata, l.ttl_ms, l.granted_ms, l.renewed_ms, l.expires_ms,
       l.break_reason,
       (select count(*) from lease_tickets t where t.tenant = l.tenant and t.name = l.name and t.expires_ms > ?3)
  from leases l
 where l.tenant = ?1 and l.name = ?2 and l.fence > 0
