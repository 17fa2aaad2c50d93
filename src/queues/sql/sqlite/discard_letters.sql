-- A letter that is put away for good: its message is history. ?1 session_id, ?2 sequence
delete from queue_dead where session_id = ?1 and sequence = ?2
