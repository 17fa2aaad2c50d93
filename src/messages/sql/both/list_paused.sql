-- Paused topics of all tenants, the longest paused first, at most 100. Result: tenant, name, paused_ms, paused_reason
-- Locks: none
select tenant, name, paused_ms, paused_reason from tenure.topics where paused_ms > 0 order by paused_ms, tenant, name limit 100
