-- The tickets of load_offered.sql.
-- Parameters: $1 license_id[]; each once; $2 whether to load them in any case[]
-- Result: ordinal, number, ticket_id, machine, person, process, expires_ms, slot, placed_ms
-- Locks: none; under those of lock_licenses.sql
select item.ordinal, t.number, t.ticket_id, t.machine, t.person, t.process, t.expires_ms, t.slot, t.placed_ms
  from unnest($1::uuid[], $2::bigint[]) with ordinality as item (license_id, always, ordinal)
  join tenure.licenses l on l.id = item.license_id and (item.always = 1 or l.row_count > l.seats)
  join tenure.seat_tickets t on t.license_id = any (array[l.id]) and t.slot is not null
