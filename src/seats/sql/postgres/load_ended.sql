-- What the log says of sessions that have no seat: their entries, newest first, and the resumption that ended one.
-- Parameters: $1 session_id[]; each once
-- Result: ordinal, license_id, seq, at_ms, kind, detail, slot and fence of the session itself (0: none)
-- Locks: none
select item.ordinal, e.license_id, e.seq, e.at_ms, e.kind, e.detail, e.slot, e.fence
  from unnest($1::uuid[]) with ordinality as item (session_id, ordinal)
 cross join lateral (select g.license_id, g.seq, g.at_ms, g.kind, g.detail, coalesce(g.slot, 0) as slot, coalesce(g.fence, 0) as fence
                       from tenure.seat_log g where g.session_id = any (array[item.session_id])
                      union all
                     select f.license_id, f.seq, f.at_ms, 'former', f.detail, coalesce(f.slot, 0), 0::bigint
                       from tenure.seat_log f where f.former_id = any (array[item.session_id])) e
 order by item.ordinal, e.seq desc
