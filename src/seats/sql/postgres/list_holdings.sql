-- A page of a licence's holdings that have a seat, newest first.
-- Parameters: $1 license_id, $2 machine ('': any), $3 person, $4 1: any person, $5 only fences below, $6 how many at most,
-- $7 state (0 any, 1 active, 2 lapsed), $8 now_ms
-- Result: license_id, fence, null, null, slot, open, lapsed_ms, session_id, machine, person, fence, started_ms, beat_ms, expires_ms, prior_ms, revoked,
-- ticket_id, address, user_agent, metadata, horizon_ms, epoch
-- Locks: none
select s.license_id, s.fence, null::text, null::bigint, s.slot, s.open, s.lapsed_ms, s.session_id, s.machine, s.person, s.fence, s.started_ms, s.beat_ms, s.expires_ms,
       s.prior_ms, s.revoked, s.ticket_id, s.address, s.user_agent, s.metadata, s.horizon_ms, s.epoch
  from tenure.seats s
 where s.license_id = $1::uuid and s.session_id is not null and ($2::text = '' or s.machine = $2)
   and ($4::bigint = 1 or s.person = $3::text) and s.fence < $5::bigint
   and ($7::bigint = 0 or case when s.open = 0 and greatest(s.expires_ms, s.horizon_ms) > $8::bigint then 1 else 2 end = $7)
 order by s.fence desc
 limit $6::bigint
