-- The messages of sessions from a place on: so many, and of each session no more bytes than given, but perhaps the first whatever its size.
-- Under the sessions' locks, in a later statement: what it sees is complete up to `next`.
-- Parameters: $1 session_id[], each once; $2 from[], $3 how many[], $4 how many bytes of each, $5 1: the first in any case
-- Result: ordinal, sequence, id, event_id, payload_kind, payload, bytes, correlation_id, headers, trace, enqueued_ms, expires_ms, replay_of, copy; in order
-- Locks: none
select item.ordinal, f.sequence, f.id, f.event_id, f.payload_kind, f.payload, f.bytes, f.correlation_id, f.headers, f.trace,
       f.enqueued_ms, f.expires_ms, f.replay_of, f.copy
  from unnest($1::uuid[], $2::bigint[], $3::bigint[]) with ordinality as item (session_id, first, want, ordinal)
 cross join lateral (
       select m.*, sum(m.bytes) over (order by m.sequence) as through
         from (select * from tenure.queue_messages c
                where c.session_id = item.session_id and c.sequence >= item.first
                order by c.sequence limit item.want) as m) as f
 where f.through <= $4::bigint or ($5::bigint = 1 and f.sequence = item.first)
 order by item.ordinal, f.sequence
