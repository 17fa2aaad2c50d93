-- Puts a message in: ready when it is due, else waiting. ?1 id, ?2 topic_id, ?3 line, ?4 due_ms, ?5 payload_kind,
-- ?6 payload, ?7 correlation_id, ?8 headers, ?9 trace, ?10 now_ms
insert into messages (id, topic_id, line, pos, due_ms, enqueued_ms, fence, lease_until_ms, worker, claimed_ms, attempts,
                      crashes, payload_kind, payload, correlation_id, headers, trace, error)
values (?1, ?2, ?3, case when ?4 <= ?10 then ?10 else 0 end, ?4, ?10, 0, 0, 0, 0, 0, 0, ?5, ?6, ?7, ?8, ?9, '')
