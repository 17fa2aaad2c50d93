-- Makes sure that topics and the lines that are about to be used are on record. A row that says so already is neither
-- written nor locked. One that was closed, because nobody used it, has all lines afterwards: a transaction that saw it
-- open may have put something into any of them.
-- Parameters: $1 tenant[], $2 name[], $3 lines[] (bits); each topic once
-- Lock order: topics in ascending (tenant, name), before dedup keys and messages
insert into tenure.topics as known (tenant, name, lines)
select item.tenant, item.name, item.lines
  from unnest($1::text[], $2::text[], $3::bigint[]) as item (tenant, name, lines)
 where not exists (select from tenure.topics t
                    where t.tenant = item.tenant and t.name = item.name
                      and t.lines & item.lines::integer = item.lines::integer and t.closed_ms = 0)
 order by item.tenant collate "C", item.name collate "C"
on conflict (tenant, name) do update
   set lines = case when known.closed_ms > 0 then 1048575 else known.lines | excluded.lines end,
       idle_ms = 0, closed_ms = 0, closed_xid = null
