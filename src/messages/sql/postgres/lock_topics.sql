-- The rows of topics, locked: nobody else changes their settings before this transaction ends. A row that somebody is
-- changing is waited for and read as it is then.
-- Parameters: $1 tenant[], $2 name[]; each once
-- Result: ordinal, and the columns of load_topics.sql
-- Lock order: topics in ascending (tenant, name)
select item.ordinal, t.topic_id, t.lines, t.max_attempts, t.max_crashes, t.lease_ms, t.retention_ms, t.backoff_ms,
       t.backoff_max_ms, t.dedup_ms, t.paused_ms, t.paused_reason, t.asked_ms
  from unnest($1::text[], $2::text[]) with ordinality as item (tenant, name, ordinal)
  join tenure.topics t on t.tenant = item.tenant and t.name = item.name
 order by t.tenant, t.name
   for no key update of t
