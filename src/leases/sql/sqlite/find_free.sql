-- Whether a name is free for which somebody waits here. ?1 tenant, ?2 name, ?3 now_ms. Result: 1
select 1 from leases where tenant = ?1 and name = ?2 and (term is null or expires_ms <= ?3)
