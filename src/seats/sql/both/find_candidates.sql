-- Seats of a licence that the store does not promise any more. Parameters: $1 license_id, $2 now_ms, $3 how many at most
-- Result: slot, fence, expires_ms, horizon_ms, epoch; the longest overdue first
-- Locks: none
select slot, fence, expires_ms, horizon_ms, epoch
  from tenure.seats
 where license_id = $1::uuid and open = 0 and expires_ms <= $2::bigint and horizon_ms > $2
 order by expires_ms
 limit $3::bigint
