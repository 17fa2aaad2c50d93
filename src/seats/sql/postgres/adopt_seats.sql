-- Moves deadlines on, and notes how far a Redis may promise the seats. Neither that nor the epoch is ever lowered.
-- Parameters: $1 license_id[], $2 slot[]; each pair once, locked by lock_sessions.sql; $3 beat_ms[], $4 expires_ms[],
-- $5 horizon_ms[], $6 epoch[]
-- Lock order: the same rows again
update tenure.seats s
   set beat_ms = item.beat_ms, expires_ms = greatest(s.expires_ms, item.expires_ms),
       horizon_ms = greatest(s.horizon_ms, item.horizon_ms), epoch = greatest(s.epoch, item.epoch)
  from unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[])
       as item (license_id, slot, beat_ms, expires_ms, horizon_ms, epoch)
 where s.license_id = any (array[item.license_id]) and s.slot = item.slot
