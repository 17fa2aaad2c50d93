-- Deletes topics that were closed long enough ago and stayed empty. Nobody knows their number any more: processes forgot
-- it (topic_cache.hpp, 1), and of the transactions that may have seen them open none is left. What these wrote is seen
-- here, because all of them are older than this statement's snapshot.
-- Parameters: $1 closed before, $2 limit. Result: a row for each
-- Lock order: topics, FOR UPDATE SKIP LOCKED, never waiting
with gone as (
  select t.topic_id from tenure.topics t
   where t.closed_ms > 0 and t.closed_ms <= $1 and t.lines = 0
     and t.closed_xid <= pg_snapshot_xmin(pg_current_snapshot())
     and not exists (select from tenure.messages m where m.topic_id = t.topic_id and m.pos > 0)
     and not exists (select from tenure.messages m where m.topic_id = t.topic_id and m.pos = 0)
     and not exists (select from tenure.dead_letters d where d.topic_id = t.topic_id and d.redriven_ms = 0)
     and not exists (select from tenure.message_keys k where k.topic_id = t.topic_id)
     and not exists (select from tenure.unsorted_messages u where u.tenant = t.tenant and u.topic = t.name)
   order by t.topic_id limit $2 for update of t skip locked)
delete from tenure.topics t using gone where t.topic_id = gone.topic_id returning 1
