-- A message that was passed over. ?1 tenant, ?2 queue, ?3 session_id, ?4 sequence. Result: bytes
select m.bytes
  from queue_dead d
  join queues q on q.queue_id = d.queue_id and q.tenant = ?1 and q.name = ?2
  join queue_messages m on m.session_id = d.session_id and m.sequence = d.sequence
 where d.session_id = ?3 and d.sequence = ?4 and d.replayed_ms = 0
