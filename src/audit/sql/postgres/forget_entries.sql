-- Removes the oldest entries from before $1 ms, at most $2. Result: sequence
-- REQUIRES: raise_kept_from.sql with the same time, in the same transaction. Two that do it at once remove the same ones,
-- once. (No FOR UPDATE: that would need the right to UPDATE, which nobody should have.)
with old as (
  select at_ms, sequence from tenure.audit where at_ms < $1::bigint order by at_ms, sequence limit $2::bigint
)
delete from tenure.audit a using old
 where a.at_ms = any (array[old.at_ms]) and a.sequence = any (array[old.sequence])
returning a.sequence
