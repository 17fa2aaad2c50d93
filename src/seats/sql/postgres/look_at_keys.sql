-- What a key opens, without locks: its licence, and whether the machine has a seat or a place in the line there.
-- Parameters: $1 tenant[], $2 key_hash[], $3 machine[]; each triple once
-- Result: ordinal, id, state, seats, valid_from_ms, valid_until_ms, row_count, held, look_ms, until when
-- the key is good (0: for ever), whether the machine is known
-- Locks: none
select item.ordinal, l.id, l.state, l.seats, l.valid_from_ms, l.valid_until_ms, l.row_count, l.held, l.look_ms, k.until_ms,
       exists (select from tenure.seats s where s.license_id = any (array[l.id]) and s.machine = item.machine)
       or exists (select from tenure.seat_tickets t where t.license_id = any (array[l.id]) and t.machine = item.machine)
  from unnest($1::text[], $2::bytea[], $3::text[]) with ordinality as item (tenant, key_hash, machine, ordinal)
  join tenure.license_keys k on k.tenant = any (array[item.tenant]) and k.key_hash = item.key_hash
  join tenure.licenses l on l.id = any (array[k.license_id]) and l.tenant = item.tenant
