-- Makes sure that a topic and the lines that are about to be used are on record. One that was closed has all afterwards.
-- ?1 tenant, ?2 name, ?3 lines (bits)
insert into topics (tenant, name, lines) values (?1, ?2, ?3)
on conflict (tenant, name) do update
   set lines = case when closed_ms > 0 then 1048575 else lines | excluded.lines end, idle_ms = 0, closed_ms = 0
 where lines & excluded.lines <> excluded.lines or closed_ms > 0
