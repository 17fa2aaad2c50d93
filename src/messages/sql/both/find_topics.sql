-- The first topics of a tenant from a name on. Parameters: $1 tenant, $2 name, $3 how many. Result: name, paused_ms
-- Locks: none
select name, paused_ms from tenure.topics where tenant = $1::text and name >= $2::text order by name limit $3::bigint
