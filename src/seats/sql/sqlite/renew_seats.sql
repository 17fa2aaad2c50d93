-- Moves a deadline on. ?1 license_id, ?2 slot, ?3 beat_ms, ?4 expires_ms
update seats set beat_ms = ?3, expires_ms = ?4 where license_id = ?1 and slot = ?2
