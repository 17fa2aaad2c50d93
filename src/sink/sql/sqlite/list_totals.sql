-- A page of sums, by id.
-- Parameters: ?1 what, ?2 the id that the page before ended with, or null, ?3 how many at most
-- Result: id, records, usage
select id, records, usage
  from totals
 where what = ?1 and (?2 is null or id > ?2)
 order by id
 limit ?3
