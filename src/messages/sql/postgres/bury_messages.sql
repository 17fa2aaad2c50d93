-- Moves messages to the dead letters. One that was dead before and was redriven takes its old place.
-- Parameters: $1 id[], $2 tenant[], $3 reason[], $4 attempts[], $5 crashes[], $6 error[], $7 now_ms; each id once
-- Lock order: under the locks of lock_messages.sql; dead_letters after messages
with gone as (
  delete from tenure.messages m
   using unnest($1::uuid[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::text[])
         as item (id, tenant, reason, attempts, crashes, error)
   where m.id = any (array[item.id])
  returning m.id, item.tenant, m.topic_id, m.line / 2 as priority, item.reason, m.enqueued_ms, m.fence, item.attempts,
            item.crashes, m.payload_kind, m.payload, m.correlation_id, m.headers, m.trace, item.error)
insert into tenure.dead_letters (id, tenant, topic_id, priority, reason, died_ms, redriven_ms, enqueued_ms, fence,
                                 attempts, crashes, payload_kind, payload, correlation_id, headers, trace, error)
select id, tenant, topic_id, priority, reason, $7, 0, enqueued_ms, fence, attempts, crashes, payload_kind, payload,
       correlation_id, headers, trace, error
  from gone
on conflict (id) do update
   set reason = excluded.reason, died_ms = excluded.died_ms, redriven_ms = 0, fence = excluded.fence,
       attempts = excluded.attempts, crashes = excluded.crashes, error = excluded.error
