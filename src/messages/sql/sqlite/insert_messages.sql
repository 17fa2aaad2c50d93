-- Puts a message in: ready when it is due, else waiting. A topic that is not on record is refused by the table.
-- ?1 id, ?2 tenant, ?3 topic, ?4 line, ?5 due_ms, ?6 payload_kind, ?7 payload, ?8 correlation_id, ?9 headers, ?10 trace,
-- ?11 now_ms
insert into messages (id, topic_id, line, pos, due_ms, enqueued_ms, fence, lease_until_ms, worker, claimed_ms, attempts,
                      crashes, payload_kind, payload, correlation_id, headers, trace, error)
values (?1, (select topic_id from topics where tenant = ?2 and name = ?3), ?4, case when ?5 <= ?11 then ?11 else 0 end,
        ?5, ?11, 0, 0, 0, 0, 0, 0, ?6, ?7, ?8, ?9, ?10, '')
