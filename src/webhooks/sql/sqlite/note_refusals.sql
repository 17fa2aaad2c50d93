-- Adds up webhooks whose signature was refused. ?1 source, ?2 count
insert into webhook_refusals (source, count) values (?1, ?2)
on conflict (source) do update set count = count + excluded.count
