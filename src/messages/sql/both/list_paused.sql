-- Paused topics of all tenants, the longest paused first: of each tenant at most 100, so that one tenant's hide no other's, and of all
-- at most 1,000. Result: tenant, name, paused_ms, paused_reason
-- Locks: none
select tenant, name, paused_ms, paused_reason
  from (select tenant, name, paused_ms, paused_reason,
               row_number() over (partition by tenant order by paused_ms, name) as place
          from tenure.topics where paused_ms > 0) as p
 where place <= 100
 order by place, paused_ms, tenant, name
 limit 1000
