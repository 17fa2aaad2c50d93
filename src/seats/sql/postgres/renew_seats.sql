-- Moves deadlines on. Nothing that is indexed changes: a HOT update.
-- Parameters: $1 license_id[], $2 slot[]; each pair once, locked by lock_sessions.sql; $3 beat_ms[], $4 expires_ms[]
-- Lock order: the same rows again
update tenure.seats s
   set beat_ms = item.beat_ms, expires_ms = item.expires_ms
  from unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::bigint[]) as item (license_id, slot, beat_ms, expires_ms)
 where s.license_id = any (array[item.license_id]) and s.slot = item.slot
