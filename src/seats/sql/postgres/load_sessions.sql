-- Seats of holdings, with what their licences say. It runs after the locks, so it sees what was committed before them.
-- Parameters: $1 session_id[]; each once
-- Result: ordinal, license_id, slot, person, open, revoked, expires_ms, tenant, state, ttl_ms, grace_ms, valid_from_ms,
-- valid_until_ms, fence, when it is over without anybody's testimony (OverAt in promise.hpp), revision of the licence
-- Locks: none
select item.ordinal, s.license_id, s.slot, s.person, s.open, s.revoked, s.expires_ms, l.tenant, l.state, l.ttl_ms,
       l.grace_ms, l.valid_from_ms, l.valid_until_ms, s.fence,
       case when s.epoch > g.epoch or (s.epoch = g.epoch and g.identity is not null) then greatest(s.expires_ms, s.horizon_ms)
            else least(greatest(s.expires_ms, s.horizon_ms), greatest(s.expires_ms, g.frozen_ms)) end,
       l.revision
  from unnest($1::uuid[]) with ordinality as item (session_id, ordinal)
  join tenure.seats s on s.session_id = any (array[item.session_id])
  join tenure.licenses l on l.id = s.license_id
  join tenure.seat_ledger g on g.only_one = 1
