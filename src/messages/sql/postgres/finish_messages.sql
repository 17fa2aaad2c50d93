-- Finishes messages for those who hold them; where the topic keeps what is finished, it is written down.
-- Parameters: $1 id[], $2 fence[], $3 tenant[], $4 output[], $5 now_ms; each (id, fence) once
-- Result: ordinal, topic, claimed_ms, enqueued_ms, attempts, trace; no row where the fence is not of the claim under way
-- A message that another transaction has locked (a user's own: tenure.acknowledge) is passed over, and has no row either.
-- SKIP LOCKED would lock each row before the delete locks it again, and write that down. xmax says as much for nothing:
-- it is 0, or the version's own writer (who locked, then wrote), or else somebody has locked this version, or once had.
-- Whoever is passed over for a lock of the past, or not passed over for one of this moment, only waits.
-- Lock order: messages in the order of the ids as given (ascending), each locked by its delete
with done as (
  delete from tenure.messages m
   using unnest($1::uuid[], $2::bigint[], $3::text[], $4::text[]) with ordinality
         as item (id, fence, tenant, output, ordinal),
         tenure.topics t
   where m.id = any (array[item.id]) and m.fence = item.fence and m.lease_until_ms > 0
     and (m.xmax = 0 or m.xmax = m.xmin or m.xmax = pg_current_xact_id_if_assigned()::xid)
     and t.topic_id = m.topic_id and t.tenant = item.tenant
  returning item.ordinal, item.output, t.name, t.retention_ms, m.id, m.topic_id, m.claimed_ms, m.enqueued_ms, m.fence,
            m.attempts, m.crashes, m.correlation_id, m.trace),
kept as (
  insert into tenure.finished_messages (id, topic_id, finished_ms, forget_ms, enqueued_ms, fence, attempts, crashes,
                                        correlation_id, output)
  select id, topic_id, $5, $5 + retention_ms, enqueued_ms, fence, attempts, crashes, correlation_id, output
    from done where retention_ms > 0
  on conflict (id) do nothing)
select ordinal, name, claimed_ms, enqueued_ms, attempts, trace from done
