-- An event of a tenant. Parameters: $1 tenant, $2 event_id
-- Result: event_id, tenant, source, hook, delivery_id, event, action, repository_id, repository, entity_type,
-- entity_id, entity_previous, sender_id, sender, organization, installation_id, content_type,
-- signature, headers, trace, bytes, messages, topic_messages, received_ms, number
-- Locks: none
select e.event_id, e.tenant, e.source, e.hook, e.delivery_id, e.event, e.action, e.repository_id,
       e.repository, e.entity_type, e.entity_id, e.entity_previous, e.sender_id, e.sender, e.organization,
       e.installation_id, e.content_type, e.signature, e.headers, e.trace, e.bytes, e.messages,
       e.topic_messages, e.received_ms, e.number
  from tenure.webhook_events e
 where e.tenant = $1::text and e.event_id = $2::uuid
