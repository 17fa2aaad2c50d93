-- Sessions that ended before $1 may be gone from now on. Parameters: $1 removed_ms
-- Lock order: under the lock of lock_bounds.sql
update tenure.session_bounds set removed_ms = $1 where removed_ms < $1
