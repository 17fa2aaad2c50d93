-- When the first session started: ids are in the order of starts. Result: start_ms; no row without a session
-- Locks: none
select start_ms from tenure.sessions order by id limit 1
