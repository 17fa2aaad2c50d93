-- Starts sessions. The unique index on (user_id, capacity_id, turn) would refuse a second successor.
-- Parameters: ?1 id, ?2 tenant, ?3 user_id, ?4 capacity_id, ?5 turn, ?6 kind, ?7 start_ms, ?8 end_ms, ?9 end_reason
-- (0: open; a session that was upgraded within one batch is born ended)
insert into sessions (id, tenant, user_id, capacity_id, turn, kind, start_ms, end_ms, end_reason)
values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, nullif(?9, 0))
