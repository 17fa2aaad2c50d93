-- Which licence a ticket is of, and for which machine. Parameters: $1 ticket_id[]; each once
-- Result: ordinal, license_id, machine
-- Locks: none
select item.ordinal, t.license_id, t.machine
  from unnest($1::uuid[]) with ordinality as item (ticket_id, ordinal)
  join tenure.seat_tickets t on t.ticket_id = any (array[item.ticket_id])
