-- Locks deliveries, whether or not they were received before: a new one gets its row here. One that is being received by
-- another transaction is waited for.
-- Parameters: $1 source[], $2 hook[], $3 delivery_id[]; each once
-- Lock order: webhook_deliveries in ascending order of the key, after the bots lock
insert into tenure.webhook_deliveries (source, hook, delivery_id, event_id, received_ms)
select item.source, item.hook, item.delivery_id, '00000000-0000-0000-0000-000000000000', 0
  from unnest($1::text[], $2::text[], $3::text[]) as item (source, hook, delivery_id)
 order by item.source collate "C", item.hook collate "C", item.delivery_id collate "C"
on conflict (source, hook, delivery_id) do update set event_id = excluded.event_id where false
