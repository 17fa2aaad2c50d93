-- A page of a licence's line, offers and dead tickets too. Parameters: $1 license_id, $2 the number behind which it begins,
-- $3 how many at most
-- Result: number, ticket_id, machine, person, process, expires_ms, slot, placed_ms, the end of the offer
-- Locks: none
select t.number, t.ticket_id, t.machine, t.person, t.process, t.expires_ms, t.slot, t.placed_ms,
       (select s.expires_ms from tenure.seats s where s.license_id = t.license_id and s.slot = t.slot)
  from tenure.seat_tickets t
 where t.license_id = $1::uuid and t.number > $2::bigint
 order by t.number
 limit $3::bigint
