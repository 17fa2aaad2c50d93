-- An event as consumers see it, with its body if that is not too large. ?1 event_id, ?2 the largest body, in bytes
-- Result: event_id, tenant, source, hook, delivery_id, event, action, repository_id, repository, entity_type,
-- entity_id, entity_previous, sender_id, sender, organization, installation_id, content_type,
-- signature, headers, trace, bytes, messages, topic_messages, received_ms, number, body (null: too large, or gone)
select e.event_id, e.tenant, e.source, e.hook, e.delivery_id, e.event, e.action, e.repository_id,
       e.repository, e.entity_type, e.entity_id, e.entity_previous, e.sender_id, e.sender, e.organization,
       e.installation_id, e.content_type, e.signature, e.headers, e.trace, e.bytes, e.messages,
       e.topic_messages, e.received_ms, e.number,
       case when e.bytes <= ?2 then (select p.body from webhook_payloads p where p.event_id = e.event_id) end
  from webhook_events e
 where e.event_id = ?1
