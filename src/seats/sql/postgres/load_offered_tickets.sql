-- The tickets of load_offered.sql. Parameters: $1 license_id[]; each once
-- Result: ordinal, number, ticket_id, machine, person, process, expires_ms, slot, placed_ms
-- Locks: none; under those of lock_licenses.sql
select item.ordinal, t.number, t.ticket_id, t.machine, t.person, t.process, t.expires_ms, t.slot, t.placed_ms
  from unnest($1::uuid[]) with ordinality as item (license_id, ordinal)
  join tenure.seat_tickets t on t.license_id = any (array[item.license_id]) and t.slot is not null
