-- The tickets that are asked for, dead ones too, and how many wait before each.
-- Parameters: $1 license_id[], $2 machine[]; each pair once; $3 a time that is not after now
-- Result: ordinal, number, ticket_id, machine, person, process, expires_ms, slot, placed_ms, ahead
-- Locks: none; under those of lock_licenses.sql
select item.ordinal, t.number, t.ticket_id, t.machine, t.person, t.process, t.expires_ms, t.slot, t.placed_ms,
       (select count(*) from tenure.seat_tickets b
         where b.license_id = any (array[t.license_id]) and b.number < t.number and b.slot is null
           and b.expires_ms > $3::bigint)
  from unnest($1::uuid[], $2::text[]) with ordinality as item (license_id, machine, ordinal)
  join tenure.seat_tickets t on t.license_id = any (array[item.license_id]) and t.machine = item.machine
