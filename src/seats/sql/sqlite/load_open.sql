-- The first of a licence's seats that are to be had, in the order in which they are taken: free ones, then those that
-- lapsed first. ?1 license_id, ?2 how many, and as many as there are tickets in front of the line, ?3 how much of a line
-- Result: slot, open, lapsed_ms, session_id, machine, person, fence, started_ms, beat_ms, expires_ms, prior_ms, revoked,
-- ticket_id, address, user_agent, metadata, horizon_ms, epoch
select s.slot, s.open, s.lapsed_ms, s.session_id, s.machine, s.person, s.fence, s.started_ms, s.beat_ms, s.expires_ms,
       s.prior_ms, s.revoked, s.ticket_id, s.address, s.user_agent, s.metadata, s.horizon_ms, s.epoch
  from seats s
 where s.license_id = ?1 and s.open = 1
 order by s.lapsed_ms, s.slot
 limit ?2 + (select count(*) from (select 1 from seat_tickets t where t.license_id = ?1 and t.slot is null limit ?3))
