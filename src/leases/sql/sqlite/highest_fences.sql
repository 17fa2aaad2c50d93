-- The highest fence that a name was ever given, as far as the store knows. ?1 tenant, ?2 name. Result: fence
select max(coalesce((select l.fence from leases l where l.tenant = ?1 and l.name = ?2), 0),
           coalesce((select f.fence from lease_floors f where f.tenant = ?1), 0))
