-- What a delivery became. ?1 source, ?2 hook, ?3 delivery_id, ?4 event_id, ?5 received_ms
insert into webhook_deliveries (source, hook, delivery_id, event_id, received_ms) values (?1, ?2, ?3, ?4, ?5)
on conflict (source, hook, delivery_id) do update set event_id = excluded.event_id, received_ms = excluded.received_ms
