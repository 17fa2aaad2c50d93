-- Writes the rows of a batch. PostgreSQL looks at the values, not at the list of columns: where the fence stays the
-- same this is an update that leaves the keys alone, and a guard does not hold it up.
-- Parameters: $1 tenant[], $2 name[], $3 fence[], $4 term[] (nil UUID: none), $5 holder[], $6 metadata[], $7 ttl_ms[],
-- $8 granted_ms[], $9 renewed_ms[], $10 expires_ms[], $11 longest_ttl_ms[], $12 broken[] (1: $13 is its reason),
-- $13 break_reason[], $14 next_ticket[]; each name once
-- Lock order: under the locks of lock_names.sql
update tenure.leases l
   set fence = item.fence, term = nullif(item.term, '00000000-0000-0000-0000-000000000000'), holder = item.holder,
       metadata = item.metadata, ttl_ms = item.ttl_ms, granted_ms = item.granted_ms, renewed_ms = item.renewed_ms,
       expires_ms = item.expires_ms, longest_ttl_ms = item.longest_ttl_ms,
       break_reason = case item.broken when 1 then item.break_reason end, next_ticket = item.next_ticket
  from unnest($1::text[], $2::text[], $3::bigint[], $4::uuid[], $5::text[], $6::text[], $7::bigint[], $8::bigint[],
              $9::bigint[], $10::bigint[], $11::bigint[], $12::bigint[], $13::text[], $14::bigint[])
       as item (tenant, name, fence, term, holder, metadata, ttl_ms, granted_ms, renewed_ms, expires_ms, longest_ttl_ms,
                broken, break_reason, next_ticket)
 where l.tenant = any (array[item.tenant]) and l.name = item.name
