-- The seats that are offered to somebody, of a licence that has more seats than it may have, or may come to. ?1 license_id
-- Result: slot, open, lapsed_ms, session_id, machine, person, fence, started_ms, beat_ms, expires_ms, prior_ms, revoked,
-- ticket_id, address, user_agent, metadata, horizon_ms, epoch
select s.slot, s.open, s.lapsed_ms, s.session_id, s.machine, s.person, s.fence, s.started_ms, s.beat_ms, s.expires_ms,
       s.prior_ms, s.revoked, s.ticket_id, s.address, s.user_agent, s.metadata, s.horizon_ms, s.epoch
  from seats s
 where s.license_id = ?1 and s.ticket_id is not null
