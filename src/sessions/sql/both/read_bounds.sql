-- What usage has fixed about sessions. Result: sealed_ms, settled_ms, removed_ms
-- Locks: none; under the seal (shared or alone) sealed_ms does not change
select sealed_ms, settled_ms, removed_ms from tenure.session_bounds
