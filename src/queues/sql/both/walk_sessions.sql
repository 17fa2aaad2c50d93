-- Sessions in the order of their ids, to be looked at one after another. Parameters: $1 the id behind which to go on, $2 how many
-- at most
-- Result: session_id, queue_id, 1: it is idle, activity_ms
-- Locks: none
select session_id, queue_id, case when state = 0 and next = head and next > 0 then 1 else 0 end, activity_ms
  from tenure.queue_sessions
 where session_id > $1::uuid
 order by session_id
 limit $2::bigint
