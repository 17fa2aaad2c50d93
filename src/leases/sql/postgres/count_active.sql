-- How many leases are held, for the gauge. Parameters: $1 now_ms. Result: count
-- Locks: none
select count(*) from tenure.leases where term is not null and expires_ms > $1::bigint
