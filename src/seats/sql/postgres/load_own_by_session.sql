-- The seats of the sessions that are asked for. A heartbeat of one may be under way: this waits for its end, and
-- reads what it left. Nobody who holds a seat's lock waits for anything, so the wait is short.
-- Parameters: $1 license_id[], $2 session_id[]; each pair once, the licences locked by lock_licenses.sql
-- Result: ordinal, slot, open, lapsed_ms, session_id, machine, person, fence, started_ms, beat_ms, expires_ms, prior_ms, revoked,
-- ticket_id, address, user_agent, metadata, horizon_ms, epoch
-- Lock order: seats, after the licences; ascending
select item.ordinal, s.slot, s.open, s.lapsed_ms, s.session_id, s.machine, s.person, s.fence, s.started_ms, s.beat_ms, s.expires_ms,
       s.prior_ms, s.revoked, s.ticket_id, s.address, s.user_agent, s.metadata, s.horizon_ms, s.epoch
  from unnest($1::uuid[], $2::uuid[]) with ordinality as item (license_id, session_id, ordinal)
  join tenure.seats s on s.license_id = any (array[item.license_id]) and s.session_id = item.session_id
 order by s.license_id, s.slot
   for no key update of s
