-- What queues have, by their counters. Parameters: $1 rows at most
-- Result: tenant, name, scope, max_sessions, depth_threshold, messages, bytes, ready, held, parked, enqueued_ms of the first message of the
-- session that is first in line (0: none), max_bytes, parked sessions of older generations
-- Locks: none
select q.tenant, q.name, q.scope, q.max_sessions, q.depth_threshold,
       coalesce((select sum(c.messages) from tenure.queue_counters c where c.queue_id = q.queue_id), 0)::bigint,
       coalesce((select sum(c.bytes) from tenure.queue_counters c where c.queue_id = q.queue_id), 0)::bigint,
       coalesce((select sum(c.ready) from tenure.queue_counters c where c.queue_id = q.queue_id), 0)::bigint,
       coalesce((select sum(c.held) from tenure.queue_counters c where c.queue_id = q.queue_id), 0)::bigint,
       coalesce((select sum(c.parked) from tenure.queue_counters c where c.queue_id = q.queue_id), 0)::bigint,
       coalesce((select m.enqueued_ms from tenure.queue_messages m
                  join (select s.session_id, s.head from tenure.queue_sessions s
                         where s.queue_id = q.queue_id and s.generation = q.generation and s.position > 0
                         order by s.position limit 1) as f
                    on f.session_id = m.session_id and f.head = m.sequence), 0), q.max_bytes,
       coalesce((select sum(c.parked) from tenure.queue_counters c
                  where c.queue_id = q.queue_id and c.generation < q.generation), 0)::bigint
  from tenure.queues q
 where q.state < 2 and q.scope > 0
 order by q.queue_id
 limit $1::bigint
