-- Makes sure that a topic and the lines that are about to be used are on record. ?1 tenant, ?2 name, ?3 lines (bits)
insert into topics (tenant, name, lines) values (?1, ?2, ?3)
on conflict (tenant, name) do update set lines = lines | excluded.lines where lines & excluded.lines <> excluded.lines
