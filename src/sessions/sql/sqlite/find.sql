-- A session by id. Parameters: ?1 id
-- Result: id, tenant, user_id, capacity_id, turn, kind, start_ms, end_ms, end_reason; no row for an unknown id
select s.id, s.tenant, s.user_id, s.capacity_id, s.turn, s.kind, s.start_ms, s.end_ms, s.end_reason from sessions s where s.id = ?1
