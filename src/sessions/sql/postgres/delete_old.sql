-- Deletes sessions that ended before the retention period, and whose usage is settled. An ended session never changes, so nobody else holds
-- these rows except another process that deletes them.
-- The ids come as an array, not as a join: the plan does not know how few they are and would hash the whole table.
-- Parameters: $1 ended before this ms, $2 how many at most
-- Result: user_id, capacity_id (a key may come more than once), end_ms
-- Lock order: sessions with SKIP LOCKED
with old as (
  select id from tenure.sessions
   where end_reason is not null and end_ms < $1::bigint
   order by end_ms
   limit $2::bigint
     for update skip locked
)
delete from tenure.sessions s
 where s.id = any (array(select id from old))
returning s.user_id, s.capacity_id, s.end_ms
