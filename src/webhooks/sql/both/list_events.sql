-- A page of a tenant's events, the latest first.
-- Parameters: $1 tenant, $2 below this number, $3 delivery_id, $4 event, $5 action, $6 repository, $7 entity type, $8 entity
-- id ('': any, of each), $9 since this ms, $10 before this ms, $11 1: any event_id, $12 event_id, $13 how many at most
-- Result: event_id, tenant, source, hook, delivery_id, event, action, repository_id, repository, entity_type,
-- entity_id, entity_previous, sender_id, sender, organization, installation_id, content_type,
-- signature, headers, trace, bytes, messages, topic_messages, received_ms, number
-- Locks: none
select e.event_id, e.tenant, e.source, e.hook, e.delivery_id, e.event, e.action, e.repository_id,
       e.repository, e.entity_type, e.entity_id, e.entity_previous, e.sender_id, e.sender, e.organization,
       e.installation_id, e.content_type, e.signature, e.headers, e.trace, e.bytes, e.messages,
       e.topic_messages, e.received_ms, e.number
  from tenure.webhook_events e
 where e.tenant = $1::text and e.number < $2::bigint
   and ($3::text = '' or e.delivery_id = $3::text) and ($4::text = '' or e.event = $4::text)
   and ($5::text = '' or e.action = $5::text) and ($6::text = '' or lower(e.repository) = lower($6::text))
   and ($7::text = '' or e.entity_type = $7::text) and ($8::text = '' or e.entity_id = $8::text)
   and e.received_ms >= $9::bigint and e.received_ms < $10::bigint
   and ($11::bigint = 1 or e.event_id = $12::uuid)
 order by e.number desc
 limit $13::bigint
