-- The first sessions of a line. ?1 queue_id, ?2 generation, ?3 from which place (0: the first), ?4 how many at most
-- Result: the columns of a session (columns.hpp)
select
       s.session_id, s.queue_id, s.generation, s.key, s.name, s.entity, s.share, s.next, s.head, s.fence, s.state,
       s.consumer, s.lease_until_ms, s.lease_ms, s.turn_ms, s.turn_count, s.handed, s.attempts, s.position, s.due_ms,
       s.not_before_ms, s.reserved_for, s.reserved_until_ms, s.parked_ms, s.reason, s.error, s.error_class,
       s.accept_id, s.ended, s.ttl_free, s.created_ms, s.activity_ms
  from queue_sessions s
 where s.queue_id = ?1 and s.generation = ?2 and s.position > 0 and s.position >= ?3
 order by s.position
 limit ?4
