-- A page of a licence's log. Parameters: $1 license_id, $2 the first seq, $3 kind ('': any), $4 only entries since this ms,
-- $5 how many at most
-- Result: license_id, seq, at_ms, kind, session_id, slot, fence, detail, hash
-- Locks: none
select g.license_id, g.seq, g.at_ms, g.kind, g.session_id, g.slot, g.fence, g.detail, g.hash
  from tenure.seat_log g join tenure.licenses l on l.id = g.license_id and g.seq >= l.log_base
 where g.license_id = $1::uuid and g.seq >= $2::bigint and ($3::text = '' or g.kind = $3::text) and g.at_ms >= $4::bigint
 order by g.seq
 limit $5::bigint
