-- What lies between a message and the head of its session. Parameters: $1 session_id, $2 from, $3 to (not any more)
-- Result: sequence, bytes, replayed_ms of the dead letter (-1: it is none); in order
-- Locks: none; under the lock of the session, in a later statement than lock_between.sql
select m.sequence, m.bytes,
       coalesce((select d.replayed_ms from tenure.queue_dead d where d.session_id = m.session_id and d.sequence = m.sequence), -1)
  from tenure.queue_messages m
 where m.session_id = $1::uuid and m.sequence >= $2::bigint and m.sequence < $3::bigint
 order by m.sequence
