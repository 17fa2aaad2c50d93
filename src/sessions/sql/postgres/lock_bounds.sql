-- Keeps settled_ms and removed_ms as they are until COMMIT. Result: one row
-- Lock order: session_bounds, before any session; whoever also needs the seal takes that before
select 1::bigint from tenure.session_bounds for update
