-- A message that was passed over goes to the dead letters; it stays where it is. ?1 session_id, ?2 sequence, ?3 queue_id,
-- ?4 reason, ?5 attempts, ?6 error, ?7 error_class, ?8 now_ms
insert into queue_dead (session_id, sequence, queue_id, id, reason, attempts, error, error_class, dead_ms, replayed_ms)
select ?1, ?2, ?3, m.id, ?4, ?5, ?6, ?7, ?8, 0 from queue_messages m where m.session_id = ?1 and m.sequence = ?2
