-- Sets one shared setting. Parameters: ?1 name, ?2 value
insert into settings (name, value) values (?1, ?2)
on conflict (name) do update set value = excluded.value
