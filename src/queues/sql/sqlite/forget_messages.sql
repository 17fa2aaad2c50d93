-- A message whose history is over. ?1 session_id, ?2 sequence
delete from queue_messages where session_id = ?1 and sequence = ?2
