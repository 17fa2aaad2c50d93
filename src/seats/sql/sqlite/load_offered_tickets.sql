-- The tickets of load_offered.sql. ?1 license_id, ?2 whether to load them in any case
-- Result: number, ticket_id, machine, person, process, expires_ms, slot, placed_ms
select t.number, t.ticket_id, t.machine, t.person, t.process, t.expires_ms, t.slot, t.placed_ms
  from licenses l join seat_tickets t on t.license_id = l.id and t.slot is not null
 where l.id = ?1 and (?2 = 1 or l.row_count > l.seats)
