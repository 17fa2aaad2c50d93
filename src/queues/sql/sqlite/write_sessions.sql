-- Writes a session as it is now. ?1 session_id, ?2 name, ?3 entity, then its columns in this order; accept_id: the nil UUID for
-- none
update queue_sessions
   set name = ?2, entity = ?3,
       next = ?4, head = ?5, fence = ?6, state = ?7, consumer = ?8, lease_until_ms = ?9, lease_ms = ?10,
       turn_ms = ?11, turn_count = ?12, handed = ?13, attempts = ?14, position = ?15, due_ms = ?16,
       not_before_ms = ?17, reserved_for = ?18, reserved_until_ms = ?19, parked_ms = ?20, reason = ?21, error = ?22,
       error_class = ?23, accept_id = nullif(?24, zeroblob(16)), ended = ?25, ttl_free = ?26, created_ms = ?27,
       activity_ms = ?28
 where session_id = ?1
