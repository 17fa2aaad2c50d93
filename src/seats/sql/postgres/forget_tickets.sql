-- Removes tickets that are dead for long. One that is being changed is skipped. Parameters: $1 dead since this ms, $2 how
-- many at most. Result: number
-- Lock order: seat_tickets with SKIP LOCKED: it waits for nobody
with dead as (
  select ctid from tenure.seat_tickets where slot is null and expires_ms < $1::bigint limit $2::bigint for update skip locked
)
delete from tenure.seat_tickets t where t.ctid = any (array(select ctid from dead)) returning t.number
