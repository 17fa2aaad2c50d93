-- Puts a message in. ?1 session_id, ?2 sequence, ?3 id, ?4 event_id, ?5 payload_kind, ?6 payload, ?7 bytes, ?8 correlation_id,
-- ?9 headers, ?10 trace, ?11 enqueued_ms, ?12 expires_ms, ?13 replay_of, ?14 copy; the nil UUID for none
insert into queue_messages (session_id, sequence, id, event_id, payload_kind, payload, bytes, correlation_id, headers,
                            trace, enqueued_ms, expires_ms, replay_of, copy)
values (?1, ?2, ?3, nullif(?4, zeroblob(16)), ?5, case when ?4 = zeroblob(16) then ?6 end, ?7, ?8, ?9, ?10, ?11, ?12,
        nullif(?13, zeroblob(16)), ?14)
