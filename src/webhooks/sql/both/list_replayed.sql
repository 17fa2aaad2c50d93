-- A tenant's events, the earliest first.
-- Parameters: $1 tenant, $2 above this number, $3 event, $4 repository ('': any, of each), $5 since this ms, $6 before this ms, $7
-- how many at most
-- Result: the columns of list_events.sql
-- Locks: none
select e.event_id, e.tenant, e.source, e.hook, e.delivery_id, e.event, e.action, e.repository_id,
       e.repository, e.entity_type, e.entity_id, e.entity_previous, e.sender_id, e.sender, e.organization,
       e.installation_id, e.content_type, e.signature, e.headers, e.trace, e.bytes, e.messages,
       e.topic_messages, e.received_ms, e.number
  from tenure.webhook_events e
 where e.tenant = $1::text and e.number > $2::bigint
   and ($3::text = '' or e.event = $3::text) and ($4::text = '' or lower(e.repository) = lower($4::text))
   and e.received_ms >= $5::bigint and e.received_ms < $6::bigint
 order by e.number
 limit $7::bigint
