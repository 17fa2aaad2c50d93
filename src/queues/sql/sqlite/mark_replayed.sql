-- This letter was sent once more. ?1 session_id, ?2 sequence, ?3 now_ms
update queue_dead set replayed_ms = ?3 where session_id = ?1 and sequence = ?2
