-- What a key opens: its licence, and whether the machine has a seat or a place in the line there.
-- ?1 tenant, ?2 key_hash, ?3 machine
-- Result: id, state, seats, valid_from_ms, valid_until_ms, row_count, held, look_ms, until when the key is good
-- (0: for ever), whether the machine is known
select l.id, l.state, l.seats, l.valid_from_ms, l.valid_until_ms, l.row_count, l.held, l.look_ms, k.until_ms,
       exists (select 1 from seats s where s.license_id = l.id and s.machine = ?3)
       or exists (select 1 from seat_tickets t where t.license_id = l.id and t.machine = ?3)
  from license_keys k join licenses l on l.id = k.license_id and l.tenant = ?1
 where k.tenant = ?1 and k.key_hash = ?2
