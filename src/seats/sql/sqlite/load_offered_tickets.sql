-- The tickets of load_offered.sql. ?1 license_id
-- Result: number, ticket_id, machine, person, process, expires_ms, slot, placed_ms
select t.number, t.ticket_id, t.machine, t.person, t.process, t.expires_ms, t.slot, t.placed_ms
  from seat_tickets t
 where t.license_id = ?1 and t.slot is not null
