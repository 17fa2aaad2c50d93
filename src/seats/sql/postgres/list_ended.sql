-- A page of a licence's holdings that are over, newest first: their last entries in the log. One that was revived, or is
-- still in its seat, is not over.
-- Parameters: $1 license_id, $2 machine ('': any), $3 person, $4 1: any person, $5 only seq below, $6 how many at most
-- Result: license_id, seq, kind, ended_ms, slot, open, lapsed_ms, session_id, machine, person, fence, started_ms, beat_ms, expires_ms, prior_ms, revoked,
-- ticket_id, address, user_agent, metadata, horizon_ms, epoch
-- Locks: none
select g.license_id, g.seq, g.kind, g.at_ms, coalesce(g.slot, 0), 0, 0, coalesce(g.former_id, g.session_id),
       (g.detail::json ->> 'machine'), coalesce((g.detail::json ->> 'person'), ''), coalesce(g.fence, 0),
       coalesce((select min(b.at_ms) from tenure.seat_log b where b.session_id = coalesce(g.former_id, g.session_id)), 0),
       coalesce((g.detail::json ->> 'last_heartbeat_ms')::bigint, 0), g.at_ms, 0, 0, null::uuid,
       coalesce((g.detail::json ->> 'address'), ''), '', '', 0, 0
  from tenure.seat_log g
 where g.license_id = $1::uuid and g.seq < $5::bigint
   and (g.kind in ('LICENSE_SEAT_RELEASED', 'LICENSE_SEAT_EXPIRED', 'LICENSE_SEAT_RESUMED')
        or (g.kind = 'LICENSE_SEAT_REVOKED' and g.detail::json ->> 'force' = 'true'))
   and not exists (select from tenure.seats s where s.session_id = coalesce(g.former_id, g.session_id))
   and ($2::text = '' or (g.detail::json ->> 'machine') = $2) and ($4::bigint = 1 or (g.detail::json ->> 'person') = $3::text)
 order by g.seq desc
 limit $6::bigint
