-- What deliveries became. Under the locks of lock_deliveries.sql.
-- Parameters: $1 source[], $2 hook[], $3 delivery_id[], $4 event_id[], $5 received_ms
update tenure.webhook_deliveries d set event_id = item.event_id, received_ms = $5::bigint
  from unnest($1::text[], $2::text[], $3::text[], $4::uuid[]) as item (source, hook, delivery_id, event_id)
 where d.source = any (array[item.source]) and d.hook = any (array[item.hook])
   and d.delivery_id = any (array[item.delivery_id])
