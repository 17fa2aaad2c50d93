-- The row of a name and the floor of its tenant. The write transaction is the lock. ?1 tenant, ?2 name
-- Result: fence, term, holder, metadata, ttl_ms, granted_ms, renewed_ms, expires_ms, longest_ttl_ms, break_reason,
-- next_ticket, floor; one row, also for a name that is new
select coalesce(l.fence, 0), l.term, coalesce(l.holder, ''), coalesce(l.metadata, ''), coalesce(l.ttl_ms, 0),
       coalesce(l.granted_ms, 0), coalesce(l.renewed_ms, 0), coalesce(l.expires_ms, 0), coalesce(l.longest_ttl_ms, 0),
       l.break_reason, coalesce(l.next_ticket, 1),
       coalesce((select f.fence from lease_floors f where f.tenant = ?1), 0)
  from (select 1) left join leases l on l.tenant = ?1 and l.name = ?2
