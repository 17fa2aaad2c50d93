-- Messages that are done, and whose history is over; not those that are dead letters. What is done stays done: a rewind goes
-- back over dead letters only, so what is found here needs no lock.
-- Parameters: $1 session_id[], each once; $2 now_ms, $3 how many of a session at most
-- Result: ordinal, sequence
-- Locks: none
select item.ordinal, old.sequence
  from unnest($1::uuid[]) with ordinality as item (session_id, ordinal)
  join tenure.queue_sessions s on s.session_id = any (array[item.session_id])
  join tenure.queues q on q.queue_id = any (array[s.queue_id])
 cross join lateral (
       select m.sequence, m.enqueued_ms from tenure.queue_messages m
        where m.session_id = s.session_id and m.sequence < s.head
          and not exists (select from tenure.queue_dead d where d.session_id = m.session_id and d.sequence = m.sequence)
        order by m.sequence limit $3::bigint) as old
 where old.enqueued_ms <= $2::bigint - q.history_ms
