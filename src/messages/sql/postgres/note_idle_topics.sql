-- Notes since when topics may be idle, of those that were opened or changed since the last look.
-- Parameters: $1 now_ms, $2 limit. Result: a row for each
-- Lock order: topics, FOR UPDATE SKIP LOCKED, never waiting
with fresh as (
  select topic_id from tenure.topics where idle_ms = 0 and closed_ms = 0 order by topic_id limit $2 for update skip locked)
update tenure.topics t set idle_ms = $1 from fresh where t.topic_id = fresh.topic_id returning 1
