-- The messages of a session from a place on: so many, and no more bytes than given, but perhaps the first whatever its size.
-- ?1 session_id, ?2 from, ?3 how many, ?4 how many bytes, ?5 1: the first in any case
-- Result: sequence, id, event_id, payload_kind, payload, bytes, correlation_id, headers, trace, enqueued_ms, expires_ms, replay_of, copy; in order
select sequence, id, event_id, payload_kind, payload, bytes, correlation_id, headers, trace, enqueued_ms, expires_ms, replay_of, copy
  from (select m.*, sum(m.bytes) over (order by m.sequence) as through
          from (select * from queue_messages
                 where session_id = ?1 and sequence >= ?2 order by sequence limit ?3) as m)
 where through <= ?4 or (?5 = 1 and sequence = ?2)
 order by sequence
