-- Removes tickets of processes that are gone. Parameters: $1 dead since this ms, $2 how many at most. Result: number
-- Lock order: lease_tickets with SKIP LOCKED
with dead as (
  select ctid from tenure.lease_tickets where expires_ms < $1::bigint limit $2::bigint for update skip locked
)
delete from tenure.lease_tickets t where t.ctid = any (array(select ctid from dead)) returning t.number
