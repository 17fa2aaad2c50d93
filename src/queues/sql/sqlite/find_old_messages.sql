-- Messages of a session that are done, and whose history is over; not those that are dead letters. ?1 session_id, ?2 now_ms,
-- ?3 how many at most. Result: sequence
select m.sequence
  from queue_sessions s
  join queues q on q.queue_id = s.queue_id
  join queue_messages m on m.session_id = s.session_id and m.sequence < s.head
 where s.session_id = ?1 and m.enqueued_ms <= ?2 - q.history_ms
   and not exists (select 1 from queue_dead d where d.session_id = m.session_id and d.sequence = m.sequence)
 order by m.sequence
 limit ?3
