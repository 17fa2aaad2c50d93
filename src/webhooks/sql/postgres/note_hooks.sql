-- When hooks were heard of last. Parameters: $1 source[], $2 hook[], $3 delivered_ms[], $4 pinged_ms[] (0: not); each once
-- Lock order: webhook_hooks in ascending order
insert into tenure.webhook_hooks as known (source, hook, delivered_ms, pinged_ms)
select item.source, item.hook, item.delivered_ms, item.pinged_ms
  from unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[]) as item (source, hook, delivered_ms, pinged_ms)
 order by item.source collate "C", item.hook collate "C"
on conflict (source, hook) do update
   set delivered_ms = greatest(known.delivered_ms, excluded.delivered_ms),
       pinged_ms = greatest(known.pinged_ms, excluded.pinged_ms)
