-- The bots of all tenants, as they are. Result: tenant, revision, content, applied_ms, person
-- Locks: none
select f.tenant, f.revision, f.content, f.applied_ms, f.person
  from tenure.bot_files f
 where f.revision = (select max(g.revision) from tenure.bot_files g where g.tenant = f.tenant)
 order by f.tenant
