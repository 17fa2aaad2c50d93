-- Sessions with active time in [?1, ?2), by id. Two looks whose cost does not depend on the history: those that are
-- open, those that have ended since it began.
-- Parameters: ?1 start_ms, ?2 end_ms, ?3 after this id, ?4 up to this id, ?5 how many at most, ?6 capacity_id or null
-- Result: id, tenant, user_id, capacity_id, turn, kind, start_ms, end_ms, end_reason
select * from (
  select * from (select id, tenant, user_id, capacity_id, turn, kind, start_ms, end_ms, end_reason from sessions indexed by sessions_open
    where end_reason is null and start_ms < ?2 and end_ms > ?1 and end_ms > start_ms and id > ?3 and id <= ?4
      and (?6 is null or capacity_id = ?6)
    order by id limit ?5)
  union all
  select * from (select id, tenant, user_id, capacity_id, turn, kind, start_ms, end_ms, end_reason from sessions indexed by sessions_ended
    where end_reason is not null and start_ms < ?2 and end_ms > ?1 and end_ms > start_ms and id > ?3 and id <= ?4
      and (?6 is null or capacity_id = ?6)
    order by id limit ?5))
 order by id limit ?5
