-- The first ready messages of a line; none of a paused topic, and none whose id is no id: the others go on without it. Large payloads are left for load_payloads.sql.
-- ?1 tenant, ?2 topic, ?3 line, ?4 from_pos, ?5 want
-- Result: id, place, pos, fence, bytes of the payload, payload_kind, payload (null: large), attempts, crashes,
-- enqueued_ms, due_ms, correlation_id, headers, trace
select m.id, m.seq, m.pos, m.fence, length(m.payload), m.payload_kind,
       case when length(m.payload) <= 4096 then m.payload end, m.attempts, m.crashes, m.enqueued_ms, m.due_ms,
       m.correlation_id, m.headers, m.trace
  from topics t join messages m on m.topic_id = t.topic_id and m.line = ?3 and m.pos > 0 and m.pos >= ?4
                               and m.lease_until_ms = 0 and length(m.id) = 16
 where t.tenant = ?1 and t.name = ?2 and t.paused_ms = 0
 order by m.pos
 limit ?5
