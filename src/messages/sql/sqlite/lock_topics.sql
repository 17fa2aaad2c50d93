-- The row of a topic. ?1 tenant, ?2 name
-- Result: the columns of load_topics.sql
select topic_id, lines, max_attempts, max_crashes, lease_ms, retention_ms, backoff_ms, backoff_max_ms, dedup_ms,
       paused_ms, paused_reason, asked_ms
  from topics where tenant = ?1 and name = ?2
