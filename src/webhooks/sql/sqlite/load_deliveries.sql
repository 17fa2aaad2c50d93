-- What a delivery became. ?1 source, ?2 hook, ?3 delivery_id. Result: event_id, received_ms; no row: it is new
select event_id, received_ms from webhook_deliveries where source = ?1 and hook = ?2 and delivery_id = ?3
