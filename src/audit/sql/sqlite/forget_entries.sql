-- Removes the oldest entries from before ?1 ms, at most ?2. Result: sequence
-- REQUIRES: raise_kept_from.sql with the same time, in the same transaction
delete from audit where sequence in (select sequence from audit where at_ms < ?1 order by at_ms, sequence limit ?2)
returning sequence
