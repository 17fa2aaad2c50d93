-- How full the licences with the most seats are, and all together. ?1 how many licences
-- Result: id, used, seats, used of all, seats of all
select l.id, l.held, l.seats, a.held, a.seats
  from (select id, held, seats from licenses where state <> 2 order by seats desc, id limit ?1) l
 cross join (select coalesce(sum(held), 0) as held, coalesce(sum(seats), 0) as seats from licenses where state <> 2) a
