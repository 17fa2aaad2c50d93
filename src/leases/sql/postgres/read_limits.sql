-- What holds for the whole store. Result: incarnation, incarnation_ms, freeze_ms, longest_ttl_ms
-- Locks: none
select incarnation, incarnation_ms, freeze_ms, longest_ttl_ms from tenure.store
