-- Locks messages and reads what a settlement needs; one that another transaction has locked is passed over (a user's own,
-- that acknowledges it: tenure.acknowledge), and has no row here.
-- Parameters: $1 id[], $2 tenant[]; each id once
-- Result: ordinal, fence, lease_until_ms, worker, line, attempts, crashes, claimed_ms, enqueued_ms, trace,
-- tenant, topic, then the columns of load_topics.sql, then whether it is followed
-- The order is that of the given ids, not of the table: an index that has the order would be read as a whole.
-- Lock order: messages in ascending id, FOR UPDATE SKIP LOCKED
select item.ordinal, m.fence, m.lease_until_ms, m.worker, m.line, m.attempts, m.crashes, m.claimed_ms, m.enqueued_ms,
       m.trace, t.tenant, t.name, t.topic_id, t.lines, t.max_attempts, t.max_crashes, t.lease_ms, t.retention_ms, t.backoff_ms, t.backoff_max_ms,
       t.dedup_ms, t.paused_ms, t.paused_reason, t.asked_ms, case when starts_with(m.headers, '{"tenure-job"') then 1 else 0 end
  from unnest($1::uuid[], $2::text[]) with ordinality as item (id, tenant, ordinal)
  join tenure.messages m on m.id = any (array[item.id])
  join tenure.topics t on t.topic_id = m.topic_id and t.tenant = item.tenant
 order by item.id
   for update of m skip locked
