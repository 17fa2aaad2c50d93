-- A page of a session's records, by window.
-- Parameters: ?1 session_id, ?2 the window that the page before ended with, or 0, ?3 how many at most
-- Result: session_id, window, user_id, tenant_id, capacity_id, kind, start_ms, end_ms, usage
select session_id, window, user_id, tenant_id, capacity_id, kind, start_ms, end_ms, usage
  from records
 where session_id = ?1 and window > ?2
 order by window
 limit ?3
