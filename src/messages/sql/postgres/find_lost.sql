-- Whether the reaper has anything to do. Parameters: $1 now_ms, $2 whether leases count (1) or workers only (0)
-- Result: 1, or no row
-- Locks: none
select 1 where exists (select from tenure.message_workers where expires_ms <= $1)
            or ($2::bigint = 1 and exists (select from tenure.message_claims where look_ms <= $1))
