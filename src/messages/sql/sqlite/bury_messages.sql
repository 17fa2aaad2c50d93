-- Moves a message to the dead letters. One that was dead before and was redriven takes its old place.
-- ?1 id, ?2 tenant, ?3 reason, ?4 attempts, ?5 crashes, ?6 error, ?7 now_ms
insert into dead_letters (id, tenant, topic_id, priority, reason, died_ms, redriven_ms, enqueued_ms, fence, attempts,
                          crashes, payload_kind, payload, correlation_id, headers, trace, error)
select id, ?2, topic_id, line / 2, ?3, ?7, 0, enqueued_ms, fence, ?4, ?5, payload_kind, payload, correlation_id, headers,
       trace, ?6
  from messages where id = ?1
on conflict (id) do update
   set reason = excluded.reason, died_ms = excluded.died_ms, redriven_ms = 0, fence = excluded.fence,
       attempts = excluded.attempts, crashes = excluded.crashes, error = excluded.error;
delete from messages where id = ?1
