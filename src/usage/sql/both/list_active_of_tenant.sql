-- Sessions of a tenant with active time in [$1, $2), by id. Its cost grows with what the tenant has on record.
-- Parameters: $1 start_ms, $2 end_ms, $3 after this id, $4 up to this id, $5 how many at most, $6 capacity_id or null,
-- $7 tenant
-- Result: id, tenant, user_id, capacity_id, turn, kind, start_ms, end_ms, end_reason
-- Locks: none
select id, tenant, user_id, capacity_id, turn, kind, start_ms, end_ms, end_reason from tenure.sessions
 where tenant = $7::uuid and start_ms < $2::bigint and end_ms > $1::bigint and end_ms > start_ms and id > $3::uuid and id <= $4::uuid
   and ($6::uuid is null or capacity_id = $6::uuid)
 order by id limit $5::bigint
