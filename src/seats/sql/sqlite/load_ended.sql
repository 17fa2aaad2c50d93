-- What the log says of a session that has no seat: its entries, newest first, and the resumption that ended it.
-- ?1 session_id. Result: license_id, seq, at_ms, kind, detail,
-- slot and fence of the session itself (0: none)
select license_id, seq, at_ms, kind, detail, coalesce(slot, 0), coalesce(fence, 0) from seat_log where session_id = ?1
union all
select license_id, seq, at_ms, 'former', detail, coalesce(slot, 0), 0 from seat_log where former_id = ?1
 order by 2 desc
