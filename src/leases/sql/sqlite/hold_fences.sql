-- The deadline of the grant with this fence; the write transaction keeps it from being taken over.
-- ?1 tenant, ?2 name, ?3 fence. Result: expires_ms; no row for a stale fence
select expires_ms from leases where tenant = ?1 and name = ?2 and fence = ?3 and term is not null
