-- Begins a write. READ COMMITTED on purpose: each statement sees what was committed before it, which is what
-- "lock in one statement, read in the next" needs (docs/ground.md, Time and Lanes).
begin isolation level read committed read write
