-- Puts messages in, under the locks of their sessions. Parameters: the columns in this order, as arrays; the nil UUID for none
-- Lock order: new rows only
insert into tenure.queue_messages (session_id, sequence, id, event_id, payload_kind, payload, bytes, correlation_id,
                                   headers, trace, enqueued_ms, expires_ms, replay_of, copy)
select session_id, sequence, id, nullif(event_id, '00000000-0000-0000-0000-000000000000'), payload_kind,
       case when event_id = '00000000-0000-0000-0000-000000000000' then payload end, bytes, correlation_id, headers, trace,
       enqueued_ms, expires_ms, nullif(replay_of, '00000000-0000-0000-0000-000000000000'), copy
  from unnest($1::uuid[], $2::bigint[], $3::uuid[], $4::uuid[], $5::bigint[], $6::bytea[], $7::bigint[], $8::text[],
              $9::text[], $10::text[], $11::bigint[], $12::bigint[], $13::uuid[], $14::text[])
       as item (session_id, sequence, id, event_id, payload_kind, payload, bytes, correlation_id, headers, trace,
                enqueued_ms, expires_ms, replay_of, copy)
