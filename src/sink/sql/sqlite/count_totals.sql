-- How many sums there are of a kind: how many sessions, users, …
-- Parameters: ?1 what
-- Result: count
select count(*) from totals where what = ?1
