-- How full the licences with the most seats are, and all together. Parameters: $1 how many licences
-- Result: id, used, seats, used of all, seats of all
-- Locks: none
select l.id, l.held, l.seats, a.held, a.seats
  from (select id, held, seats from tenure.licenses where state <> 2 order by seats desc, id limit $1::bigint) l
 cross join (select coalesce(sum(held), 0)::bigint as held, coalesce(sum(seats), 0)::bigint as seats
               from tenure.licenses where state <> 2) a
