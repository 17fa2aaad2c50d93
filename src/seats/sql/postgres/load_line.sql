-- The front of each licence's line: tickets that wait and are alive; and how many of those there are, and of all tickets.
-- Parameters: $1 license_id[]; each once; $2 how many of a line at most, $3 a time that is not after now
-- Result: ordinal, number, ticket_id, machine, person, process, expires_ms, slot, placed_ms (null: no ticket waits), waiting,
-- tickets; ascending by number; no row: there are no tickets
-- Locks: none; under those of lock_licenses.sql. A refresh may be under way: then a ticket counts as it was
select item.ordinal, t.number, t.ticket_id, t.machine, t.person, t.process, t.expires_ms, t.slot, t.placed_ms,
       line.waiting, line.tickets
  from unnest($1::uuid[]) with ordinality as item (license_id, ordinal)
 cross join lateral (select count(*) as tickets, count(*) filter (where c.slot is null and c.expires_ms > $3::bigint) as waiting
                       from tenure.seat_tickets c where c.license_id = any (array[item.license_id])) line
  left join lateral (select *
                       from tenure.seat_tickets t
                      where t.license_id = item.license_id and t.slot is null and t.expires_ms > $3::bigint
                      order by t.number
                      limit $2::bigint) t on true
 where line.tickets > 0
 order by item.ordinal, t.number
