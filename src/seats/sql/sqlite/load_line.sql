-- The front of a licence's line: tickets that wait and are alive; and how many of those there are, and of all tickets.
-- ?1 license_id, ?2 how many at most, ?3 a time that is not after now
-- Result: number, ticket_id, machine, person, process, expires_ms, slot, placed_ms (null: no ticket waits), waiting, tickets;
-- ascending by number; no row: there are no tickets
select t.number, t.ticket_id, t.machine, t.person, t.process, t.expires_ms, t.slot, t.placed_ms,
       line.waiting, line.tickets
  from (select count(*) as tickets, count(*) filter (where c.slot is null and c.expires_ms > ?3) as waiting
          from seat_tickets c where c.license_id = ?1) line
  left join (select *
               from seat_tickets
              where license_id = ?1 and slot is null and expires_ms > ?3
              order by number
              limit ?2) t on 1
 where line.tickets > 0
 order by t.number
