-- Sessions with active time in [$1, $2), by id. Two looks whose cost does not depend on the history: those that are
-- open, those that have ended since it began. (Without "offset 0" a generic plan may look for the latter by id, through
-- the whole history.)
-- Parameters: $1 start_ms, $2 end_ms, $3 after this id, $4 up to this id, $5 how many at most, $6 capacity_id or null
-- Result: id, tenant, user_id, capacity_id, turn, kind, start_ms, end_ms, end_reason
-- Locks: none
select * from (
  (select id, tenant, user_id, capacity_id, turn, kind, start_ms, end_ms, end_reason from tenure.sessions
    where end_reason is null and start_ms < $2::bigint and end_ms > $1::bigint and end_ms > start_ms and id > $3::uuid and id <= $4::uuid
      and ($6::uuid is null or capacity_id = $6::uuid)
    order by id limit $5::bigint)
  union all
  (select * from (select id, tenant, user_id, capacity_id, turn, kind, start_ms, end_ms, end_reason from tenure.sessions
                   where end_reason is not null and end_ms > $1::bigint offset 0) as ended
    where start_ms < $2::bigint and end_ms > start_ms and id > $3::uuid and id <= $4::uuid
      and ($6::uuid is null or capacity_id = $6::uuid)
    order by id limit $5::bigint)) as active
 order by id limit $5::bigint
