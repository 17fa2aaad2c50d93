-- The seats that are over without anybody's testimony (OverAt in promise.hpp; without a Redis: whose deadline has
-- passed), of a licence whose look_ms has passed. ?1 license_id, ?2 a time that is not after now,
-- ?3 how many at most
-- Result: slot, open, lapsed_ms, session_id, machine, person, fence, started_ms, beat_ms, expires_ms, prior_ms, revoked,
-- ticket_id, address, user_agent, metadata, horizon_ms, epoch
select s.slot, s.open, s.lapsed_ms, s.session_id, s.machine, s.person, s.fence, s.started_ms, s.beat_ms, s.expires_ms,
       s.prior_ms, s.revoked, s.ticket_id, s.address, s.user_agent, s.metadata, s.horizon_ms, s.epoch
  from seats s cross join seat_ledger g
 where s.license_id = ?1 and s.open = 0 and s.expires_ms <= ?2
   and case when s.epoch > g.epoch or (s.epoch = g.epoch and g.identity is not null) then max(s.expires_ms, s.horizon_ms)
            else min(max(s.expires_ms, s.horizon_ms), max(s.expires_ms, g.frozen_ms)) end <= ?2
 limit ?3
