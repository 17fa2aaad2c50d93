-- A page of a licence's holdings that are over, newest first: their last entries in the log. One that was revived, or is
-- still in its seat, is not over. ?1 license_id, ?2 machine ('': any), ?3 person, ?4 1: any person, ?5 only seq below,
-- ?6 how many at most
-- Result: license_id, seq, kind, ended_ms, slot, open, lapsed_ms, session_id, machine, person, fence, started_ms, beat_ms, expires_ms, prior_ms, revoked,
-- ticket_id, address, user_agent, metadata, horizon_ms, epoch
select g.license_id, g.seq, g.kind, g.at_ms, coalesce(g.slot, 0), 0, 0, coalesce(g.former_id, g.session_id),
       json_extract(g.detail, '$.machine'), coalesce(json_extract(g.detail, '$.person'), ''), coalesce(g.fence, 0),
       coalesce((select min(b.at_ms) from seat_log b where b.session_id = coalesce(g.former_id, g.session_id)), 0),
       coalesce(json_extract(g.detail, '$.last_heartbeat_ms'), 0), g.at_ms, 0, 0, null,
       coalesce(json_extract(g.detail, '$.address'), ''), '', '', 0, 0
  from seat_log g
 where g.license_id = ?1 and g.seq < ?5
   and (g.kind in ('LICENSE_SEAT_RELEASED', 'LICENSE_SEAT_EXPIRED', 'LICENSE_SEAT_RESUMED')
        or (g.kind = 'LICENSE_SEAT_REVOKED' and json_extract(g.detail, '$.force') = 1))
   and not exists (select 1 from seats s where s.session_id = coalesce(g.former_id, g.session_id))
   and (?2 = '' or json_extract(g.detail, '$.machine') = ?2) and (?4 = 1 or json_extract(g.detail, '$.person') = ?3)
 order by g.seq desc
 limit ?6
