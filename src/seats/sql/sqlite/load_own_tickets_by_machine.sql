-- A ticket that is asked for, also a dead one, and how many wait before it. ?1 license_id, ?2 machine, ?3 a time that
-- is not after now. Result: number, ticket_id, machine, person, process, expires_ms, slot, placed_ms, ahead
select t.number, t.ticket_id, t.machine, t.person, t.process, t.expires_ms, t.slot, t.placed_ms,
       (select count(*) from seat_tickets b
         where b.license_id = t.license_id and b.number < t.number and b.slot is null and b.expires_ms > ?3)
  from seat_tickets t
 where t.license_id = ?1 and t.machine = ?2
