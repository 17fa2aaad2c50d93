-- Notes of topics that were closed who may have seen them open: everybody who has begun by now. It comes after the
-- transaction that closed them, so whoever begins later sees them closed.
-- Parameters: $1 limit. Result: a row for each
-- Lock order: topics, FOR UPDATE SKIP LOCKED, never waiting
with closed as (
  select topic_id from tenure.topics where closed_ms > 0 and closed_xid is null order by topic_id limit $1
     for update skip locked)
update tenure.topics t set closed_xid = pg_snapshot_xmax(pg_current_snapshot())
  from closed where t.topic_id = closed.topic_id returning 1
