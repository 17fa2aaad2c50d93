-- Until when all usage is acknowledged. Parameters: $1 settled_ms
-- Lock order: under the lock of lock_bounds.sql
update tenure.session_bounds set settled_ms = $1
