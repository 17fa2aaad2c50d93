-- A record by its key.
-- Parameters: ?1 session_id, ?2 window
-- Result: session_id, window, user_id, tenant_id, capacity_id, kind, start_ms, end_ms, usage
select session_id, window, user_id, tenant_id, capacity_id, kind, start_ms, end_ms, usage
  from records
 where session_id = ?1 and window = ?2
