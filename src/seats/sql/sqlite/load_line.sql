-- The front of a licence's line: tickets that wait and are alive. ?1 license_id, ?2 how many at most, ?3 a time that is
-- not after now. Result: number, ticket_id, machine, person, process, expires_ms, slot, placed_ms; ascending by number
select t.number, t.ticket_id, t.machine, t.person, t.process, t.expires_ms, t.slot, t.placed_ms
  from seat_tickets t
 where t.license_id = ?1 and t.slot is null and t.expires_ms > ?3
 order by t.number
 limit ?2
