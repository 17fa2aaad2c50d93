-- Adds up webhooks whose signature was refused. Parameters: $1 source[], $2 count[]; each once
-- Lock order: webhook_refusals in ascending order, after webhook_hooks
insert into tenure.webhook_refusals as known (source, count)
select item.source, item.count from unnest($1::text[], $2::bigint[]) as item (source, count)
 order by item.source collate "C"
on conflict (source) do update set count = known.count + excluded.count
