-- The seats that are offered to somebody, of licences that have more seats than they may have, or may come to.
-- Parameters: $1 license_id[]; each once
-- Result: ordinal, slot, open, lapsed_ms, session_id, machine, person, fence, started_ms, beat_ms, expires_ms, prior_ms, revoked,
-- ticket_id, address, user_agent, metadata, horizon_ms, epoch
-- Locks: none; an offer changes only under the locks of lock_licenses.sql
select item.ordinal, s.slot, s.open, s.lapsed_ms, s.session_id, s.machine, s.person, s.fence, s.started_ms, s.beat_ms, s.expires_ms,
       s.prior_ms, s.revoked, s.ticket_id, s.address, s.user_agent, s.metadata, s.horizon_ms, s.epoch
  from unnest($1::uuid[]) with ordinality as item (license_id, ordinal)
  join tenure.seats s on s.license_id = any (array[item.license_id]) and s.ticket_id is not null
