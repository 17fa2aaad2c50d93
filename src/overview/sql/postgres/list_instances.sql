-- All processes, the longest running first
-- Result: instance, version, host, started_ms, seen_ms, left_ms, workers, requests_per_1000s, clock_gap_ms, lanes
-- Locks: none
select instance, version, host, started_ms, seen_ms, left_ms, workers, requests_per_1000s, clock_gap_ms, lanes
  from tenure.instances
 order by started_ms, instance
 limit 1000
