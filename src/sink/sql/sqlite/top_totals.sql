-- The largest sums.
-- Parameters: ?1 what, ?2 how many at most
-- Result: id, records, usage
select id, records, usage
  from totals
 where what = ?1
 order by usage desc, id
 limit ?2
