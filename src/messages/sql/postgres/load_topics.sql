-- The rows of topics. Parameters: $1 tenant[], $2 name[]; each once
-- Result: ordinal, topic_id, lines, max_attempts, max_crashes, lease_ms, retention_ms, backoff_ms, backoff_max_ms,
-- dedup_ms, paused_ms, paused_reason, asked_ms
-- Locks: none
select item.ordinal, t.topic_id, t.lines, t.max_attempts, t.max_crashes, t.lease_ms, t.retention_ms, t.backoff_ms,
       t.backoff_max_ms, t.dedup_ms, t.paused_ms, t.paused_reason, t.asked_ms
  from unnest($1::text[], $2::text[]) with ordinality as item (tenant, name, ordinal)
  join tenure.topics t on t.tenant = item.tenant and t.name = item.name
