-- How many could not be processed, by why. Parameters: $1 tenant, $2 queue, $3 of which (0 both, 1 parked, 2 passed over),
-- $4 how many rows at most
-- Result: reason, error_class, letters, sessions, time of the oldest and of the newest; most first
-- Locks: none
select reason, error_class, count(*), count(distinct session_id), min(dead_ms), max(dead_ms)
  from (select s.reason as reason, s.error_class as error_class, s.session_id as session_id, s.parked_ms as dead_ms
          from tenure.queues q join tenure.queue_sessions s on s.queue_id = q.queue_id and s.state = 3
         where q.tenant = $1::text and q.name = $2::text and $3::bigint <> 2
        union all
        select d.reason, d.error_class, d.session_id, d.dead_ms
          from tenure.queues q join tenure.queue_dead d on d.queue_id = q.queue_id and d.replayed_ms = 0
         where q.tenant = $1::text and q.name = $2::text and $3::bigint <> 1) as letters
 group by reason, error_class
 order by 3 desc, reason, error_class
 limit $4::bigint
