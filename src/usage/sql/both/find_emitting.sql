-- The first window that is not yet in chunks altogether. Result: number, start_ms, end_ms, sealed_ms, incarnation, state, last_id, chunks, records
-- Locks: none; whoever goes on with it compares last_id (advance_window.sql)
select number, start_ms, end_ms, sealed_ms, incarnation, state, last_id, chunks, records
  from tenure.usage_windows where state = 2 order by number limit 1
