-- Messages that are to be sent once more, as they were. Parameters: $1 session_id[], $2 sequence[]; each pair once
-- Result: ordinal, key, name, entity, share, id, event_id, payload_kind, payload, bytes, correlation_id, headers, trace, copy
-- Locks: none
select item.ordinal, s.key, s.name, s.entity, s.share, m.id, m.event_id, m.payload_kind, m.payload, m.bytes, m.correlation_id,
       m.headers, m.trace, m.copy
  from unnest($1::uuid[], $2::bigint[]) with ordinality as item (session_id, sequence, ordinal)
  join tenure.queue_messages m on m.session_id = any (array[item.session_id]) and m.sequence = item.sequence
  join tenure.queue_sessions s on s.session_id = m.session_id
 order by item.ordinal
