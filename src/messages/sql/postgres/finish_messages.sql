-- Finishes messages for those who hold them, whatever their topic and tenant.
-- Parameters: $1 id[], $2 fence[], $3 tenant[]; each (id, fence) once
-- Result: ordinal, id, fence, topic_id, claimed_ms, enqueued_ms, attempts, crashes, correlation_id, trace, topic, lines,
-- retention_ms; no row where the fence is not of the claim under way
-- Lock order: messages in the order of the ids as given (ascending), each locked by its delete
delete from tenure.messages m
 using unnest($1::uuid[], $2::bigint[], $3::text[]) with ordinality as item (id, fence, tenant, ordinal),
       tenure.topics t
 where m.id = any (array[item.id]) and m.fence = item.fence and m.lease_until_ms > 0
   and t.topic_id = m.topic_id and t.tenant = item.tenant
returning item.ordinal, m.id, m.fence, m.topic_id, m.claimed_ms, m.enqueued_ms, m.attempts, m.crashes, m.correlation_id,
          m.trace, t.name, t.lines, t.retention_ms
