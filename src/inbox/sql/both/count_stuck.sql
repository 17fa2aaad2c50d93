-- How many claims are overdue for long, for the gauge. Parameters: $1 overdue since this ms. Result: count
-- Locks: none
select count(*) from tenure.inbox where state = 1 and lease_until_ms < $1::bigint
