-- Puts messages in. What is due gets its place in its line, in the order of the batch; the rest waits. A topic that is
-- not on record (open_topics.sql) is refused by the table.
-- Parameters: $1 id[], $2 tenant[], $3 topic[], $4 line[], $5 due_ms[], $6 payload_kind[], $7 payload[],
-- $8 correlation_id[], $9 headers[], $10 trace[], $11 now_ms
-- Lock order: new rows only
insert into tenure.messages (id, topic_id, line, pos, due_ms, enqueued_ms, fence, lease_until_ms, worker, claimed_ms,
                             attempts, crashes, payload_kind, payload, correlation_id, headers, trace, error)
select item.id, t.topic_id, item.line, case when item.due_ms <= $11 then nextval('tenure.message_positions') else 0 end,
       item.due_ms, $11, 0, 0, 0, 0, 0, 0, item.payload_kind, item.payload, item.correlation_id, item.headers,
       item.trace, ''
  from unnest($1::uuid[], $2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bytea[], $8::text[],
              $9::text[], $10::text[]) with ordinality
       as item (id, tenant, topic, line, due_ms, payload_kind, payload, correlation_id, headers, trace, ordinal)
  left join tenure.topics t on t.tenant = item.tenant and t.name = item.topic
 order by item.ordinal
