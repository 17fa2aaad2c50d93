-- Events that were received, in their order.
-- Parameters: $1 event_id[], $2 tenant[], $3 source[], $4 hook[], $5 delivery_id[], $6 event[], $7 action[], $8
-- repository_id[], $9 repository[], $10 entity_type[], $11 entity_id[], $12 entity_previous[], $13
-- sender_id[], $14 sender[], $15 organization[], $16 installation_id[], $17 content_type[], $18
-- signature[], $19 headers[], $20 trace[], $21 bytes[], $22 messages[], $23
-- topic_messages[], $24 received_ms
-- Locks: none but of the new rows
insert into tenure.webhook_events
       (event_id, tenant, source, hook, delivery_id, event, action, repository_id, repository, entity_type,
        entity_id, entity_previous, sender_id, sender, organization, installation_id, content_type,
        signature, headers, trace, bytes, messages, topic_messages, received_ms)
select item.event_id, item.tenant, item.source, item.hook, item.delivery_id, item.event, item.action,
       item.repository_id, item.repository, item.entity_type, item.entity_id, item.entity_previous,
       item.sender_id, item.sender, item.organization, item.installation_id, item.content_type,
       item.signature, item.headers, item.trace, item.bytes, item.messages,
       item.topic_messages, $24::bigint
  from unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[],
              $9::text[], $10::text[], $11::text[], $12::text[], $13::text[], $14::text[], $15::text[],
              $16::text[], $17::text[], $18::text[], $19::text[], $20::text[], $21::bigint[], $22::bigint[],
              $23::text[])
       with ordinality as item (event_id, tenant, source, hook, delivery_id, event, action, repository_id, repository, entity_type,
         entity_id, entity_previous, sender_id, sender, organization, installation_id, content_type,
         signature, headers, trace, bytes, messages, topic_messages, ordinal)
 order by item.ordinal
