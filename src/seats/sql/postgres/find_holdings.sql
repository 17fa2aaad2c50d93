-- Holdings that have a seat. Parameters: $1 session_id[]; each once
-- Result: ordinal, license_id, fence, null, null, slot, open, lapsed_ms, session_id, machine, person, fence, started_ms, beat_ms, expires_ms, prior_ms, revoked,
-- ticket_id, address, user_agent, metadata, horizon_ms, epoch
-- Locks: none
select item.ordinal, s.license_id, s.fence, null::text, null::bigint, s.slot, s.open, s.lapsed_ms, s.session_id, s.machine, s.person, s.fence, s.started_ms, s.beat_ms, s.expires_ms,
       s.prior_ms, s.revoked, s.ticket_id, s.address, s.user_agent, s.metadata, s.horizon_ms, s.epoch
  from unnest($1::uuid[]) with ordinality as item (session_id, ordinal)
  join tenure.seats s on s.session_id = any (array[item.session_id])
