-- The latest session of each key, active or not. There is one writer: inside its transaction this is what it
-- decides on, outside of it a look.
-- Parameters: ?1 user_id, ?2 capacity_id
-- Result: id, tenant, user_id, capacity_id, turn, kind, start_ms, end_ms, end_reason; no row for a key that has none
select s.id, s.tenant, s.user_id, s.capacity_id, s.turn, s.kind, s.start_ms, s.end_ms, s.end_reason
  from sessions s
 where s.user_id = ?1 and s.capacity_id = ?2
 order by s.turn desc
 limit 1
