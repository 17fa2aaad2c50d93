-- A page of sessions in order of id, which is the order of start, then id. Of one tenant: by sessions_by_tenant.
-- Parameters: $1 user_id or null, $2 tenant or null, $3 capacity_id or null, $4 1 active, 0 not active, null both,
-- $5 now_ms, $6 the id that the page before ended with, $7 how many at most
-- Result: id, tenant, user_id, capacity_id, turn, kind, start_ms, end_ms, end_reason
-- Locks: none
select s.id, s.tenant, s.user_id, s.capacity_id, s.turn, s.kind, s.start_ms, s.end_ms, s.end_reason
  from tenure.sessions s
 where $1::uuid is null and s.tenant = $2::uuid
   and ($3::uuid is null or s.capacity_id = $3)
   and ($4::bigint is null or (s.end_reason is null and s.end_ms > $5::bigint) = ($4 = 1))
   and s.id {after} $6::uuid
 order by s.id {order}
 limit $7::bigint
