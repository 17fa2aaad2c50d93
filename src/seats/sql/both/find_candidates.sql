-- Seats of a licence that the store does not promise any more, in the order of their slots.
-- Parameters: $1 license_id, $2 now_ms, $3 the slot behind which it begins, $4 how many at most
-- Result: slot, fence, expires_ms, horizon_ms, epoch, revoked
-- Locks: none
select slot, fence, expires_ms, horizon_ms, epoch, revoked
  from tenure.seats
 where license_id = $1::uuid and slot > $3::bigint and open = 0 and expires_ms <= $2::bigint and horizon_ms > $2
 order by slot
 limit $4::bigint
