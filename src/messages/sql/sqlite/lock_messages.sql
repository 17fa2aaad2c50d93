-- Reads what a settlement needs; the write transaction is the lock. ?1 id, ?2 tenant
-- Result: fence, lease_until_ms, worker, line, attempts, crashes, claimed_ms, enqueued_ms, trace,
-- tenant, topic, then the columns of load_topics.sql, then whether it is followed
select m.fence, m.lease_until_ms, m.worker, m.line, m.attempts, m.crashes, m.claimed_ms, m.enqueued_ms, m.trace,
       t.tenant, t.name, t.topic_id, t.lines, t.max_attempts, t.max_crashes, t.lease_ms, t.retention_ms, t.backoff_ms, t.backoff_max_ms, t.dedup_ms,
       t.paused_ms, t.paused_reason, t.asked_ms, m.headers like '{"tenure-job"%'
  from messages m join topics t on t.topic_id = m.topic_id and t.tenant = ?2
 where m.id = ?1
