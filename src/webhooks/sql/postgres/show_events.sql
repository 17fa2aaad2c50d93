-- Events as consumers see them, with those bodies that are not too large. Parameters: $1 event_id[], each once; $2 the largest
-- body, in bytes
-- Result: ordinal, event_id, tenant, source, hook, delivery_id, event, action, repository_id, repository, entity_type,
-- entity_id, entity_previous, sender_id, sender, organization, installation_id, content_type,
-- signature, headers, trace, bytes, messages, topic_messages, received_ms, number, body (null: too large, or gone)
-- Locks: none
select item.ordinal, e.event_id, e.tenant, e.source, e.hook, e.delivery_id, e.event, e.action, e.repository_id,
       e.repository, e.entity_type, e.entity_id, e.entity_previous, e.sender_id, e.sender, e.organization,
       e.installation_id, e.content_type, e.signature, e.headers, e.trace, e.bytes, e.messages,
       e.topic_messages, e.received_ms, e.number,
       case when e.bytes <= $2::bigint
            then (select p.body from tenure.webhook_payloads p where p.event_id = e.event_id) end
  from unnest($1::uuid[]) with ordinality as item (event_id, ordinal)
  join tenure.webhook_events e on e.event_id = item.event_id
