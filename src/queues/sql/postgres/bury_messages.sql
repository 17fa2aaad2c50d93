-- Messages that were passed over go to the dead letters; they stay where they are.
-- Parameters: $1 session_id[], $2 sequence[], $3 queue_id[], $4 reason[], $5 attempts[], $6 error[], $7 error_class[], $8 now_ms
-- Lock order: new rows only, under the locks of their sessions
insert into tenure.queue_dead (session_id, sequence, queue_id, id, reason, attempts, error, error_class, dead_ms, replayed_ms)
select item.session_id, item.sequence, item.queue_id, m.id, item.reason, item.attempts, item.error, item.error_class,
       $8::bigint, 0
  from unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::text[], $7::text[])
       as item (session_id, sequence, queue_id, reason, attempts, error, error_class)
  join tenure.queue_messages m on m.session_id = any (array[item.session_id]) and m.sequence = item.sequence
