-- Sessions that are named: by id, by key (one of each generation), or as they are printed. Parameters: 1 tenant, 2 queue,
-- 3 session_id, 4 key or name, 5 how many at most
-- Result: as list_sessions.sql
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
       coalesce((select m.enqueued_ms from queue_messages m
                  where m.session_id = s.session_id and m.sequence = s.head and s.head < s.next), 0),
       exists (select 1 from queue_counters c where c.queue_id = q.queue_id and c.generation < s.generation
                group by c.generation having sum(c.messages) > 0),
       coalesce((select sum(c.held) from queue_counters c where c.queue_id = q.queue_id), 0),
       (select count(*) from (select 1 from queue_sessions b
                                where b.queue_id = s.queue_id and b.generation = s.generation and b.position > 0
                                  and b.position < s.position limit 1000) as ahead),
       0,
       k.incarnation, k.incarnation_ms, k.freeze_ms, q.asked_ms
  from queues q join queue_sessions s join store k
 where q.tenant = ?1 and q.name = ?2
   and (s.session_id = ?3 or (s.queue_id = q.queue_id and s.key = ?4)
        or (s.queue_id = q.queue_id and s.name = ?4 and s.name <> s.key))
   and s.queue_id = q.queue_id
 order by s.key, s.generation
 limit ?5
