-- Puts messages in. What is due gets its place in its line, in the order of the batch; the rest waits.
-- Parameters: $1 id[], $2 topic_id[], $3 line[], $4 due_ms[], $5 payload_kind[], $6 payload[], $7 correlation_id[],
-- $8 headers[], $9 trace[], $10 now_ms
-- Lock order: new rows only
insert into tenure.messages (id, topic_id, line, pos, due_ms, enqueued_ms, fence, lease_until_ms, worker, claimed_ms,
                             attempts, crashes, payload_kind, payload, correlation_id, headers, trace, error)
select id, topic_id, line, case when due_ms <= $10 then nextval('tenure.message_positions') else 0 end, due_ms, $10, 0, 0,
       0, 0, 0, 0, payload_kind, payload, correlation_id, headers, trace, ''
  from unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bytea[], $7::text[], $8::text[],
              $9::text[]) as item (id, topic_id, line, due_ms, payload_kind, payload, correlation_id, headers, trace)
