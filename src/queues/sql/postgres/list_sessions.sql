-- A page of sessions in the order of their keys. Parameters: 1 tenant, 2 queue, 3 state (0 idle, 1 ready, 2 held, 3 parked, -1
-- any), 4 key and 5 generation behind which it begins, 6 how many at most, 7 consumer, 8 share ('': any, of each), 9 messages at
-- least
-- Result: the columns of a session and of its queue (columns.hpp), enqueued_ms of its head (0: none), 1: an older generation has
-- messages, sessions of the queue that are held, those that are before it in line (-1: not counted; at most 1000), messages of
-- users' transactions that have not entered it (at most 1000), incarnation, incarnation_ms and freeze_ms of the store, asked_ms of
-- the queue
-- Locks: none
select
       s.session_id, s.queue_id, s.generation, s.key, s.name, s.entity, s.share, s.next, s.head, s.fence, s.state,
       s.consumer, s.lease_until_ms, s.lease_ms, s.turn_ms, s.turn_count, s.handed, s.attempts, s.position, s.due_ms,
       s.not_before_ms, s.reserved_for, s.reserved_until_ms, s.parked_ms, s.reason, s.error, s.error_class,
       s.accept_id, s.ended, s.ttl_free, s.created_ms, s.activity_ms,
       q.queue_id, q.tenant, q.name, q.state, q.generation, q.oldest, q.key_rule, q.paused_ms, q.paused_reason,
       q.floor_fence, q.floor_sequence, q.scope, q.max_sessions, q.session_timeout_ms, q.idle_timeout_ms,
       q.max_duration_ms, q.max_messages, q.max_delivery_count, q.backoff_ms, q.backoff_max_ms, q.on_dead_letter,
       q.ttl_ms, q.depth_threshold, q.max_bytes, q.dedup_ms, q.history_ms,
       coalesce((select m.enqueued_ms from tenure.queue_messages m
                  where m.session_id = s.session_id and m.sequence = s.head and s.head < s.next), 0),
       (exists (select 1 from tenure.queue_counters c where c.queue_id = q.queue_id and c.generation < s.generation
                group by c.generation having sum(c.messages) > 0))::int::bigint,
       coalesce((select sum(c.held) from tenure.queue_counters c where c.queue_id = q.queue_id), 0)::bigint,
       -1::bigint,
       0::bigint,
       k.incarnation, k.incarnation_ms, k.freeze_ms, q.asked_ms
  from tenure.queues q join tenure.queue_sessions s on s.queue_id = q.queue_id
 cross join tenure.store k
 where q.tenant = $1::text and q.name = $2::text and ($3::bigint < 0 or s.state = $3::bigint)
   and (s.key, s.generation) > ($4::text, $5::bigint)
   and ($7::text = '' or s.consumer = $7::text) and ($8::text = '' or s.share = $8::text) and s.next - s.head >= $9::bigint
 order by s.key, s.generation
 limit $6::bigint
