-- Moves a deadline on, and notes how far a Redis may promise the seat. Neither that nor the epoch is ever lowered.
-- ?1 license_id, ?2 slot, ?3 beat_ms, ?4 expires_ms, ?5 horizon_ms, ?6 epoch
update seats
   set beat_ms = ?3, expires_ms = max(expires_ms, ?4), horizon_ms = max(horizon_ms, ?5), epoch = max(epoch, ?6)
 where license_id = ?1 and slot = ?2
