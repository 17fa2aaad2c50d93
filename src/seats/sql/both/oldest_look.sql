-- The earliest time at which something may lapse. Result: look_ms (null: there is no licence)
-- Locks: none
select min(look_ms) from tenure.licenses
