-- The first sessions of lines, locked; those that another transaction has locked are passed over. What comes back of a row is
-- as of its lock; marks and messages are read in later statements.
-- Parameters: $1 queue_id[], $2 generation[], $3 from which place[] (0: the first), $4 how many at most[]; each queue once
-- Result: ordinal, the columns of a session (columns.hpp)
-- Lock order: sessions, after the gate; SKIP LOCKED, never waiting
select item.ordinal, f.*
  from unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[]) with ordinality
       as item (queue_id, generation, place, want, ordinal)
 cross join lateral (
       select
              s.session_id, s.queue_id, s.generation, s.key, s.name, s.entity, s.share, s.next, s.head, s.fence,
              s.state, s.consumer, s.lease_until_ms, s.lease_ms, s.turn_ms, s.turn_count, s.handed, s.attempts,
              s.position, s.due_ms, s.not_before_ms, s.reserved_for, s.reserved_until_ms, s.parked_ms, s.reason,
              s.error, s.error_class, s.accept_id, s.ended, s.ttl_free, s.created_ms, s.activity_ms
         from tenure.queue_sessions s
        where s.queue_id = item.queue_id and s.generation = item.generation and s.position > 0 and s.position >= item.place
        order by s.position
        limit item.want
          for update skip locked) as f
