-- Sessions that are reserved for consumers. Locked as in seize_ready.sql.
-- Parameters: $1 queue_id[], $2 consumer[]; each pair once; $3 how many at most
-- Result: ordinal, the columns of a session (columns.hpp)
-- Lock order: sessions, after the gate; SKIP LOCKED, never waiting
select item.ordinal, f.*
  from unnest($1::bigint[], $2::text[]) with ordinality as item (queue_id, consumer, ordinal)
 cross join lateral (
       select
              s.session_id, s.queue_id, s.generation, s.key, s.name, s.entity, s.share, s.next, s.head, s.fence,
              s.state, s.consumer, s.lease_until_ms, s.lease_ms, s.turn_ms, s.turn_count, s.handed, s.attempts,
              s.position, s.due_ms, s.not_before_ms, s.reserved_for, s.reserved_until_ms, s.parked_ms, s.reason,
              s.error, s.error_class, s.accept_id, s.ended, s.ttl_free, s.created_ms, s.activity_ms
         from tenure.queue_sessions s
        where s.queue_id = item.queue_id and s.reserved_for <> '' and s.reserved_for = item.consumer and s.state = 1
        limit $3::bigint
          for update skip locked) as f
