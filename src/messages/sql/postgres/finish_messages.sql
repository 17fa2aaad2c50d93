-- Finishes messages for those who hold them, whatever their topic and tenant.
-- Parameters: $1 id[], $2 fence[], $3 tenant[]; each (id, fence) once
-- Result: ordinal, id, fence, topic_id, claimed_ms, enqueued_ms, attempts, crashes, correlation_id, trace, worker of a followed one (null), topic, lines,
-- retention_ms; no row where the fence is not of the claim under way
-- A message that another transaction has locked (a user's own: tenure.acknowledge) is passed over, and has no row either.
-- SKIP LOCKED would lock each row before the delete locks it again, and write that down. xmax says as much for nothing:
-- it is 0, or the version's own writer (who locked, then wrote), or else somebody has locked this version, or once had.
-- Whoever is passed over for a lock of the past, or not passed over for one of this moment, only waits.
-- Lock order: messages in the order of the ids as given (ascending), each locked by its delete
delete from tenure.messages m
 using unnest($1::uuid[], $2::bigint[], $3::text[]) with ordinality as item (id, fence, tenant, ordinal),
       tenure.topics t
 where m.id = any (array[item.id]) and m.fence = item.fence and m.lease_until_ms > 0
   and (m.xmax = 0 or m.xmax = m.xmin or m.xmax = pg_current_xact_id_if_assigned()::xid)
   and t.topic_id = m.topic_id and t.tenant = item.tenant
returning item.ordinal, m.id, m.fence, m.topic_id, m.claimed_ms, m.enqueued_ms, m.attempts, m.crashes, m.correlation_id,
          m.trace, case when starts_with(m.headers, '{"tenure-job"') then m.worker end, t.name, t.lines, t.retention_ms
