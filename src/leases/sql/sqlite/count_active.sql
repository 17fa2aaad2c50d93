-- How many leases are held, for the gauge. ?1 now_ms. Result: count
select count(*) from leases where term is not null and expires_ms > ?1
