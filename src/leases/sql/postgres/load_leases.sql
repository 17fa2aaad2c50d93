-- The rows of a batch's names, and the floor of each tenant. Runs after the locks, as a statement of its own, so that
-- it sees what was committed while they were waited for.
-- Parameters: $1 tenant[], $2 name[]; each once
-- Result: ordinal, fence, term, holder, metadata, ttl_ms, granted_ms, renewed_ms, expires_ms,
-- longest_ttl_ms, break_reason, next_ticket, floor
-- Locks: none
select item.ordinal, l.fence, l.term, l.holder, l.metadata, l.ttl_ms, l.granted_ms, l.renewed_ms, l.expires_ms,
       l.longest_ttl_ms, l.break_reason, l.next_ticket, coalesce(f.fence, 0)
  from unnest($1::text[], $2::text[]) with ordinality as item (tenant, name, ordinal)
  join tenure.leases l on l.tenant = any (array[item.tenant]) and l.name = item.name
  left join tenure.lease_floors f on f.tenant = item.tenant
