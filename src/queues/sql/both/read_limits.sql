-- What holds for the whole store. Result: incarnation, incarnation_ms, freeze_ms
-- Locks: none
select incarnation, incarnation_ms, freeze_ms from tenure.store
