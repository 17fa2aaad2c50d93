-- Sets one shared setting. Parameters: $1 name, $2 value
insert into tenure.settings (name, value) values ($1::text, $2::text)
on conflict (name) do update set value = excluded.value
