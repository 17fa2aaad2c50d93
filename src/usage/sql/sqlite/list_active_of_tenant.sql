-- Sessions of a tenant with active time in [?1, ?2), by id. Its cost grows with what the tenant has on record.
-- Parameters: ?1 start_ms, ?2 end_ms, ?3 after this id, ?4 up to this id, ?5 how many at most, ?6 capacity_id or null,
-- ?7 tenant
-- Result: id, tenant, user_id, capacity_id, turn, kind, start_ms, end_ms, end_reason
select id, tenant, user_id, capacity_id, turn, kind, start_ms, end_ms, end_reason from sessions
 where tenant = ?7 and start_ms < ?2 and end_ms > ?1 and end_ms > start_ms and id > ?3 and id <= ?4
   and (?6 is null or capacity_id = ?6)
 order by id limit ?5
