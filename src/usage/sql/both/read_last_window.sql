-- The window that was closed last. Result: number, start_ms, end_ms, sealed_ms, incarnation, state, last_id, chunks, records; no row before the first
-- Locks: none; under the seal it is the last one until COMMIT
select number, start_ms, end_ms, sealed_ms, incarnation, state, last_id, chunks, records
  from tenure.usage_windows order by number desc limit 1
