-- Ends sessions: sets the actual end and its reason. An ended session never changes again.
-- Parameters: ?1 id, ?2 end_ms, ?3 end_reason
update sessions set end_ms = ?2, end_reason = ?3 where id = ?1 and end_reason is null
