-- The body of an event. Parameters: $1 tenant, $2 event_id. Result: body, content_type, signature
-- Locks: none
select p.body, e.content_type, e.signature
  from tenure.webhook_events e join tenure.webhook_payloads p on p.event_id = e.event_id
 where e.tenant = $1::text and e.event_id = $2::uuid
