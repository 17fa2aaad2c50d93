-- The seats that a Redis says are dead. One that is locked is skipped: whoever holds it renews it. Whether the testimony
-- counts is decided by the rows as they are here.
-- Parameters: $1 license_id[], $2 slot[]; each pair once, the licences locked by lock_licenses.sql
-- Result: ordinal, slot, open, lapsed_ms, session_id, machine, person, fence, started_ms, beat_ms, expires_ms, prior_ms, revoked,
-- ticket_id, address, user_agent, metadata, horizon_ms, epoch
-- Lock order: seats with SKIP LOCKED: it waits for nobody
select item.ordinal, s.slot, s.open, s.lapsed_ms, s.session_id, s.machine, s.person, s.fence, s.started_ms, s.beat_ms, s.expires_ms,
       s.prior_ms, s.revoked, s.ticket_id, s.address, s.user_agent, s.metadata, s.horizon_ms, s.epoch
  from unnest($1::uuid[], $2::bigint[]) with ordinality as item (license_id, slot, ordinal)
  join tenure.seats s on s.license_id = any (array[item.license_id]) and s.slot = item.slot
 where s.open = 0
   for no key update of s skip locked
