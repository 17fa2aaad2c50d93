-- Locks the one row that says which Redis keeps heartbeats.
-- Lock order: alone: nothing else is locked before or after it
select 1 from tenure.seat_ledger for update
