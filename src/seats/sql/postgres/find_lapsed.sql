-- The seats that are over without anybody's testimony (OverAt in promise.hpp; without a Redis: whose deadline has
-- passed), of licences whose look_ms has passed. A seat that is locked is skipped: whoever
-- holds it renews it, so it counts as live. From here on until COMMIT none of those that are found can be renewed.
-- Each licence is looked up by itself: as a plain join the planner reads all seats.
-- Parameters: $1 license_id[]; each once, locked by lock_licenses.sql; $2 a time that is not after now, $3 how many at most
-- Result: ordinal, slot, open, lapsed_ms, session_id, machine, person, fence, started_ms, beat_ms, expires_ms, prior_ms, revoked,
-- ticket_id, address, user_agent, metadata, horizon_ms, epoch
-- Lock order: seats with SKIP LOCKED: it waits for nobody
with due as materialized (
  select item.ordinal, item.id from unnest($1::uuid[]) with ordinality as item (id, ordinal)
)
select due.ordinal, s.slot, s.open, s.lapsed_ms, s.session_id, s.machine, s.person, s.fence, s.started_ms, s.beat_ms, s.expires_ms,
       s.prior_ms, s.revoked, s.ticket_id, s.address, s.user_agent, s.metadata, s.horizon_ms, s.epoch
  from due
  join tenure.seats s on s.license_id = any (array[due.id])
  join tenure.seat_ledger g on g.only_one = 1
 where s.open = 0 and s.expires_ms <= $2::bigint
   and case when s.epoch > g.epoch or (s.epoch = g.epoch and g.identity is not null) then greatest(s.expires_ms, s.horizon_ms)
            else least(greatest(s.expires_ms, s.horizon_ms), greatest(s.expires_ms, g.frozen_ms)) end <= $2::bigint
 limit $3::bigint
   for no key update of s skip locked
