-- Finishes a message for whoever holds it; where the topic keeps what is finished, it is written down first.
-- ?1 id, ?2 fence, ?3 tenant, ?4 output, ?5 now_ms
-- Result: topic, claimed_ms, enqueued_ms, attempts, trace; no row where the fence is not of the claim under way
insert or ignore into finished_messages (id, topic_id, finished_ms, forget_ms, enqueued_ms, fence, attempts, crashes,
                                         correlation_id, output)
select m.id, m.topic_id, ?5, ?5 + t.retention_ms, m.enqueued_ms, m.fence, m.attempts, m.crashes, m.correlation_id, ?4
  from messages m join topics t on t.topic_id = m.topic_id and t.tenant = ?3 and t.retention_ms > 0
 where m.id = ?1 and m.fence = ?2 and m.lease_until_ms > 0;
delete from messages
 where id = ?1 and fence = ?2 and lease_until_ms > 0
   and exists (select 1 from topics t where t.topic_id = messages.topic_id and t.tenant = ?3)
returning (select name from topics t where t.topic_id = messages.topic_id), claimed_ms, enqueued_ms, attempts, trace
