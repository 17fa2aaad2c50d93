-- Removes what referred to events that are gone. Parameters: $1 event_id[]
-- Lock order: webhook_references, after webhook_payloads
delete from tenure.webhook_references r using unnest($1::uuid[]) as item (event_id) where r.event_id = item.event_id
