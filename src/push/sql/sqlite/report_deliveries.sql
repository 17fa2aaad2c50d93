-- Adds what was delivered, and notes how the endpoint is.
-- ?1 tenant, ?2 name, ?3 id, ?4 delivered, ?5 failed, ?6 last_status, ?7 last_error, ?8 last_ms (0: as it was),
-- ?9 failures, ?10 next_ms
update subscriptions
   set delivered = delivered + ?4, failed = failed + ?5,
       last_status = case when ?8 > 0 then ?6 else last_status end,
       last_error = case when ?8 > 0 then ?7 else last_error end,
       last_ms = max(last_ms, ?8), failures = ?9, next_ms = ?10
 where tenant = ?1 and name = ?2 and id = ?3
