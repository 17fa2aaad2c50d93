-- Jobs with a next time, page by page. Parameters: $1 behind this tenant, $2 and this name, $3 limit. Result: tenant, name
select tenant, name from tenure.jobs
 where next_ms > 0 and cron <> '' and (tenant > $1::text or (tenant = $1::text and name > $2::text))
 order by tenant, name limit $3::bigint
