-- A page of a tenant's names in order of name. ?1 tenant, ?2 the first name that may come, ?3 the first that may not
-- ('': no end), ?4 holder ('': any), ?5 state (0 free, 1 held, 2 broken, -1 any), ?6 now_ms, ?7 how many at most
-- Result: name, fence, term, holder, metadata, ttl_ms, granted_ms, renewed_ms, expires_ms, break_reason, waiters,
-- incarnation_ms, freeze_ms, longest_ttl_ms
select l.name, l.fence, l.term, l.holder, l.metadata, l.ttl_ms, l.granted_ms, l.renewed_ms, l.expires_ms,
       l.break_reason,
       (select count(*) from lease_tickets t where t.tenant = l.tenant and t.name = l.name and t.expires_ms > ?6),
       s.incarnation_ms, s.freeze_ms, l.longest_ttl_ms
  from leases l cross join store s
 where l.tenant = ?1 and l.name >= ?2 and (?3 = '' or l.name < ?3) and l.fence > 0
   and (?4 = '' or (l.holder = ?4 and l.term is not null and l.expires_ms > ?6))
   and (?5 < 0
        or case when l.term is null or l.expires_ms <= ?6 then 0 when l.break_reason is null then 1 else 2 end = ?5)
 order by l.name
 limit ?7
