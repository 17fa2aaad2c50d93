-- A page of sessions in order of id, which is the order of start, then id. Of everybody: by primary key.
-- Parameters: ?1 user_id or null, ?2 tenant or null, ?3 capacity_id or null, ?4 1 active, 0 not active, null both,
-- ?5 now_ms, ?6 the id that the page before ended with, ?7 how many at most
-- Result: id, tenant, user_id, capacity_id, turn, kind, start_ms, end_ms, end_reason
select s.id, s.tenant, s.user_id, s.capacity_id, s.turn, s.kind, s.start_ms, s.end_ms, s.end_reason
  from sessions s
 where ?1 is null and ?2 is null
   and (?3 is null or s.capacity_id = ?3)
   and (?4 is null or (s.end_reason is null and s.end_ms > ?5) = (?4 = 1))
   and s.id {after} ?6
 order by s.id {order}
 limit ?7
