-- A page of queues in the order of their names, with what their counters say. Parameters: $1 tenant, $2 name ('': any), $3 the
-- name behind which it begins, $4 how many at most, $5 now_ms, $6 the first name that may come, $7 the first that may not ('': no
-- end)
-- Result: the columns of a queue (columns.hpp), messages, bytes, ready, held, parked, enqueued_ms of the head of the session that is
-- first in line (0: none), sessions that back off (of the thousand whose time comes first), messages of users' transactions
-- that have not entered their sessions (a thousand at most), asked_ms, messages and
-- parked sessions of older generations
-- Locks: none
select
       q.queue_id, q.tenant, q.name, q.state, q.generation, q.oldest, q.key_rule, q.paused_ms, q.paused_reason,
       q.floor_fence, q.floor_sequence, q.scope, q.max_sessions, q.session_timeout_ms, q.idle_timeout_ms,
       q.max_duration_ms, q.max_messages, q.max_delivery_count, q.backoff_ms, q.backoff_max_ms, q.on_dead_letter,
       q.ttl_ms, q.depth_threshold, q.max_bytes, q.dedup_ms, q.history_ms,
       coalesce((select sum(c.messages) from tenure.queue_counters c where c.queue_id = q.queue_id), 0)::bigint,
       coalesce((select sum(c.bytes) from tenure.queue_counters c where c.queue_id = q.queue_id), 0)::bigint,
       coalesce((select sum(c.ready) from tenure.queue_counters c where c.queue_id = q.queue_id), 0)::bigint,
       coalesce((select sum(c.held) from tenure.queue_counters c where c.queue_id = q.queue_id), 0)::bigint,
       coalesce((select sum(c.parked) from tenure.queue_counters c where c.queue_id = q.queue_id), 0)::bigint,
       coalesce((select m.enqueued_ms from tenure.queue_messages m
                  join (select s.session_id, s.head from tenure.queue_sessions s
                         where s.queue_id = q.queue_id and s.generation = q.generation and s.position > 0
                         order by s.position limit 1) as f
                    on f.session_id = m.session_id and f.head = m.sequence), 0),
       (select count(*) from (select s.state, s.not_before_ms from tenure.queue_sessions s
                               where s.queue_id = q.queue_id and s.due_ms > 0 order by s.due_ms limit 1000) as f
         where f.state = 1 and f.not_before_ms > $5::bigint),
       (select count(*) from (select from tenure.queue_staged g
                               where g.tenant = q.tenant and g.queue = q.name and g.number > 0 limit 1000) as f),
       q.asked_ms,
       coalesce((select sum(c.messages) from tenure.queue_counters c
                  where c.queue_id = q.queue_id and c.generation < q.generation), 0)::bigint,
       coalesce((select sum(c.parked) from tenure.queue_counters c
                  where c.queue_id = q.queue_id and c.generation < q.generation), 0)::bigint
  from tenure.queues q
 where q.tenant = $1::text and ($2::text = '' or q.name = $2::text) and q.name > $3::text and q.state < 2
   and q.name >= $6::text and ($7::text = '' or q.name < $7::text)
 order by q.name
 limit $4::bigint
