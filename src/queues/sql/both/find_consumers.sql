-- Who holds sessions of a queue, of the thousand whose deadline comes first: how many, and when it was heard of last (each report
-- restarts the lease). Parameters: $1 tenant, $2 queue, $3 how many at most
-- Result: consumer, sessions, seen_ms
-- Locks: none
select f.consumer, count(*), max(case when f.lease_until_ms - f.lease_ms > f.turn_ms then f.lease_until_ms - f.lease_ms
                                      else f.turn_ms end)
  from (select s.state, s.consumer, s.lease_until_ms, s.lease_ms, s.turn_ms
          from tenure.queue_sessions s join tenure.queues q on q.queue_id = s.queue_id
         where q.tenant = $1::text and q.name = $2::text and s.due_ms > 0
         order by s.due_ms limit 1000) as f
 where f.state = 2
 group by f.consumer
 order by f.consumer
 limit $3::bigint
