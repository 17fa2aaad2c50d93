-- A message that is to be sent once more, as it was. ?1 session_id, ?2 sequence
-- Result: key, name, entity, share, id, event_id, payload_kind, payload, bytes, correlation_id, headers, trace, copy
select s.key, s.name, s.entity, s.share, m.id, m.event_id, m.payload_kind, m.payload, m.bytes, m.correlation_id,
       m.headers, m.trace, m.copy
  from queue_messages m join queue_sessions s on s.session_id = m.session_id
 where m.session_id = ?1 and m.sequence = ?2
