-- Writes a row. ?1 tenant, ?2 name, ?3 fence, ?4 term (nil UUID: none), ?5 holder, ?6 metadata, ?7 ttl_ms,
-- ?8 granted_ms, ?9 renewed_ms, ?10 expires_ms, ?11 longest_ttl_ms, ?12 broken (1: ?13 is its reason),
-- ?13 break_reason, ?14 next_ticket
insert into leases (tenant, name, fence, term, holder, metadata, ttl_ms, granted_ms, renewed_ms, expires_ms,
                    longest_ttl_ms, break_reason, next_ticket)
values (?1, ?2, ?3, nullif(?4, zeroblob(16)), ?5, ?6, ?7, ?8, ?9, ?10, ?11, case ?12 when 1 then ?13 end, ?14)
on conflict (tenant, name) do update
   set fence = excluded.fence, term = excluded.term, holder = excluded.holder, metadata = excluded.metadata,
       ttl_ms = excluded.ttl_ms, granted_ms = excluded.granted_ms, renewed_ms = excluded.renewed_ms,
       expires_ms = excluded.expires_ms, longest_ttl_ms = excluded.longest_ttl_ms,
       break_reason = excluded.break_reason, next_ticket = excluded.next_ticket
