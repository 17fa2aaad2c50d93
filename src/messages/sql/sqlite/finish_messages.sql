-- Finishes a message for whoever holds it. Looked at first and deleted then: nobody comes in between.
-- ?1 id, ?2 fence, ?3 tenant
-- Result: id, fence, topic_id, claimed_ms, enqueued_ms, attempts, crashes, correlation_id, trace, worker of a followed one (null), topic, lines,
-- retention_ms; no row where the fence is not of the claim under way
select m.id, m.fence, m.topic_id, m.claimed_ms, m.enqueued_ms, m.attempts, m.crashes, m.correlation_id, m.trace,
       case when m.headers like '{"tenure-job"%' then m.worker end, t.name, t.lines, t.retention_ms
  from messages m cross join topics t on t.topic_id = m.topic_id and t.tenant = ?3
 where m.id = ?1 and m.fence = ?2 and m.lease_until_ms > 0;
delete from messages
 where id = ?1 and fence = ?2 and lease_until_ms > 0
   and ?3 = (select t.tenant from topics t where t.topic_id = messages.topic_id)
