-- What kinds cost, and from when on. Result: kind, from_ms, factor, set_ms, in ascending order of the first two
-- Locks: none
select kind, from_ms, factor, set_ms from tenure.usage_factors order by kind, from_ms
