-- Removes revisions that are no tenant's latest ones. Under the bots lock.
-- Parameters: $1 tenant, $2 how many are kept
-- Lock order: bot_files, after the bots lock
delete from tenure.bot_files
 where tenant = $1::text
   and revision not in (select revision from tenure.bot_files where tenant = $1::text order by revision desc limit $2::bigint)
