-- Adds to a sum what a request brought.
-- Parameters: ?1 what, ?2 id, ?3 records, ?4 usage
insert into totals (what, id, records, usage)
values (?1, ?2, ?3, ?4)
on conflict (what, id) do update
   set records = records + excluded.records, usage = usage + excluded.usage
