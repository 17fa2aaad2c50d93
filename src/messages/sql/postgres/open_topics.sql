-- Makes sure that topics and the lines that are about to be used are on record. A row that says so already is neither
-- written nor locked.
-- Parameters: $1 tenant[], $2 name[], $3 lines[] (bits); each topic once
-- Lock order: topics in ascending (tenant, name), before dedup keys and messages
insert into tenure.topics as known (tenant, name, lines)
select item.tenant, item.name, item.lines
  from unnest($1::text[], $2::text[], $3::bigint[]) as item (tenant, name, lines)
 where not exists (select from tenure.topics t
                    where t.tenant = item.tenant and t.name = item.name
                      and t.lines & item.lines::integer = item.lines::integer)
 order by item.tenant collate "C", item.name collate "C"
on conflict (tenant, name) do update set lines = known.lines | excluded.lines
