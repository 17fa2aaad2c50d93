-- Sessions with what a decision about them needs. After the locks, in a statement of its own. Of another tenant's, or of
-- another queue, there is no row.
-- Parameters: $1 session_id[], each once; $2 tenant[], $3 queue name[] ('', '': whosesoever)
-- Result: ordinal, the columns of a session and of its queue (columns.hpp), fence, sequence and state (if it is
-- to be applied) of its mark (null: none)
-- Locks: none
select item.ordinal,
       s.session_id, s.queue_id, s.generation, s.key, s.name, s.entity, s.share, s.next, s.head, s.fence, s.state,
       s.consumer, s.lease_until_ms, s.lease_ms, s.turn_ms, s.turn_count, s.handed, s.attempts, s.position, s.due_ms,
       s.not_before_ms, s.reserved_for, s.reserved_until_ms, s.parked_ms, s.reason, s.error, s.error_class,
       s.accept_id, s.ended, s.ttl_free, s.created_ms, s.activity_ms,
       q.queue_id, q.tenant, q.name, q.state, q.generation, q.oldest, q.key_rule, q.paused_ms, q.paused_reason,
       q.floor_fence, q.floor_sequence, q.scope, q.max_sessions, q.session_timeout_ms, q.idle_timeout_ms,
       q.max_duration_ms, q.max_messages, q.max_delivery_count, q.backoff_ms, q.backoff_max_ms, q.on_dead_letter,
       q.ttl_ms, q.depth_threshold, q.max_bytes, q.dedup_ms, q.history_ms,
       k.fence, k.sequence, case when k.fence = s.fence and k.sequence >= s.head then k.state end
  from unnest($1::uuid[], $2::text[], $3::text[]) with ordinality as item (session_id, tenant, queue, ordinal)
  join tenure.queue_sessions s on s.session_id = any (array[item.session_id])
  join tenure.queues q on q.queue_id = any (array[s.queue_id])
                      and (item.queue = '' or (q.tenant = item.tenant and q.name = item.queue))
  left join tenure.queue_marks k on k.session_id = any (array[s.session_id])
