-- Opens topics again that were closed and got something all the same, from a transaction that saw them open: in any of
-- their lines.
-- Parameters: $1 limit. Result: a row for each
-- Lock order: topics, FOR UPDATE SKIP LOCKED, never waiting
with used as (
  select t.topic_id from tenure.topics t
   where t.closed_ms > 0
     and not (not exists (select from tenure.messages m where m.topic_id = t.topic_id and m.pos > 0)
              and not exists (select from tenure.messages m where m.topic_id = t.topic_id and m.pos = 0)
              and not exists (select from tenure.dead_letters d where d.topic_id = t.topic_id and d.redriven_ms = 0)
              and not exists (select from tenure.message_keys k where k.topic_id = t.topic_id)
              and not exists (select from tenure.unsorted_messages u where u.tenant = t.tenant and u.topic = t.name))
   order by t.topic_id limit $1 for update of t skip locked)
update tenure.topics t set lines = 1048575, idle_ms = 0, closed_ms = 0, closed_xid = null
  from used where t.topic_id = used.topic_id returning 1
