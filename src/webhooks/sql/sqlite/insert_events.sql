-- An event that was received. ?1 event_id, ?2 tenant, ?3 source, ?4 hook, ?5 delivery_id, ?6 event, ?7 action, ?8 repository_id,
-- ?9 repository, ?10 entity_type, ?11 entity_id, ?12 entity_previous, ?13 sender_id, ?14 sender, ?15
-- organization, ?16 installation_id, ?17 content_type, ?18 signature, ?19 headers, ?20 trace, ?21
-- bytes, ?22 messages, ?23 topic_messages, ?24 received_ms
insert into webhook_events
       (event_id, tenant, source, hook, delivery_id, event, action, repository_id, repository, entity_type,
        entity_id, entity_previous, sender_id, sender, organization, installation_id, content_type,
        signature, headers, trace, bytes, messages, topic_messages, received_ms)
values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24)
