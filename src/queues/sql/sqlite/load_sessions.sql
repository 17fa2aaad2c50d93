-- A session with what a decision about it needs. ?1 session_id, ?2 tenant, ?3 queue name ('', '': whosesoever)
-- Result: the columns of a session and of its queue (columns.hpp), fence, sequence and state
-- of its mark (null: there are none)
select
       s.session_id, s.queue_id, s.generation, s.key, s.name, s.entity, s.share, s.next, s.head, s.fence, s.state,
       s.consumer, s.lease_until_ms, s.lease_ms, s.turn_ms, s.turn_count, s.handed, s.attempts, s.position, s.due_ms,
       s.not_before_ms, s.reserved_for, s.reserved_until_ms, s.parked_ms, s.reason, s.error, s.error_class,
       s.accept_id, s.ended, s.ttl_free, s.created_ms, s.activity_ms,
       q.queue_id, q.tenant, q.name, q.state, q.generation, q.oldest, q.key_rule, q.paused_ms, q.paused_reason,
       q.floor_fence, q.floor_sequence, q.scope, q.max_sessions, q.session_timeout_ms, q.idle_timeout_ms,
       q.max_duration_ms, q.max_messages, q.max_delivery_count, q.backoff_ms, q.backoff_max_ms, q.on_dead_letter,
       q.ttl_ms, q.depth_threshold, q.max_bytes, q.dedup_ms, q.history_ms,
       null, null, null
  from queue_sessions s
  join queues q on q.queue_id = s.queue_id and (?3 = '' or (q.tenant = ?2 and q.name = ?3))
 where s.session_id = ?1
