-- The oldest window on record. Result: number, start_ms, end_ms, sealed_ms, incarnation, state, last_id, chunks, records
-- Locks: none
select number, start_ms, end_ms, sealed_ms, incarnation, state, last_id, chunks, records
  from tenure.usage_windows order by number limit 1
