-- What deliveries became. After the locks.
-- Parameters: $1 source[], $2 hook[], $3 delivery_id[]; each once
-- Result: ordinal, event_id, received_ms (0: it is new)
select item.ordinal, d.event_id, d.received_ms
  from unnest($1::text[], $2::text[], $3::text[]) with ordinality as item (source, hook, delivery_id, ordinal)
  join tenure.webhook_deliveries d on d.source = any (array[item.source]) and d.hook = any (array[item.hook])
                                  and d.delivery_id = any (array[item.delivery_id])
