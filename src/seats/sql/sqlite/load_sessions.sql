-- The seat of a holding, with what its licence says. ?1 session_id
-- Result: license_id, slot, person, open, revoked, expires_ms, tenant, state, ttl_ms, grace_ms, valid_from_ms,
-- valid_until_ms, fence, when it is over without anybody's testimony (OverAt in promise.hpp), revision of the licence
select s.license_id, s.slot, s.person, s.open, s.revoked, s.expires_ms, l.tenant, l.state, l.ttl_ms, l.grace_ms,
       l.valid_from_ms, l.valid_until_ms, s.fence,
       case when s.epoch > g.epoch or (s.epoch = g.epoch and g.identity is not null) then max(s.expires_ms, s.horizon_ms)
            else min(max(s.expires_ms, s.horizon_ms), max(s.expires_ms, g.frozen_ms)) end,
       l.revision
  from seats s join licenses l on l.id = s.license_id cross join seat_ledger g
 where s.session_id = ?1
