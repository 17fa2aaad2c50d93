-- Adds a record that is not there.
-- Parameters: ?1 session_id, ?2 window, ?3 user_id, ?4 tenant_id, ?5 capacity_id, ?6 kind, ?7 start_ms, ?8 end_ms,
-- ?9 usage
insert into records (session_id, window, user_id, tenant_id, capacity_id, kind, start_ms, end_ms, usage)
values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
