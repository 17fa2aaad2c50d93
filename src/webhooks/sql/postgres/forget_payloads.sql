-- Removes the bodies of events that are gone. Parameters: $1 event_id[]
-- Lock order: webhook_payloads, after webhook_events
delete from tenure.webhook_payloads p using unnest($1::uuid[]) as item (event_id) where p.event_id = item.event_id
