-- Closes topics that nobody has asked for, changed or filled for long: whoever sends to them now must open them. One that
-- is not empty is looked at again after that time. Not those of Tenure itself, and not those that are paused. What a
-- topic keeps of finished messages is gone by then.
-- Parameters: $1 now_ms, $2 unused since, $3 limit
-- Result: 1 for each that was closed, 0 for each that is not empty
-- Lock order: topics, FOR UPDATE SKIP LOCKED, never waiting
with old as materialized (
  select t.topic_id,
         not exists (select from tenure.messages m where m.topic_id = t.topic_id and m.pos > 0)
         and not exists (select from tenure.messages m where m.topic_id = t.topic_id and m.pos = 0)
         and not exists (select from tenure.dead_letters d where d.topic_id = t.topic_id and d.redriven_ms = 0)
         and not exists (select from tenure.message_keys k where k.topic_id = t.topic_id)
         and not exists (select from tenure.unsorted_messages u where u.tenant = t.tenant and u.topic = t.name) as is_empty
    from tenure.topics t
   where t.closed_ms = 0 and t.idle_ms > 0 and t.paused_ms = 0 and t.tenant <> ''
     and t.idle_ms <= $2 and greatest(t.idle_ms, t.asked_ms) + least(greatest(t.retention_ms, 0), 315360000000) <= $2
   order by t.topic_id limit $3 for update of t skip locked)
update tenure.topics t
   set lines = case when old.is_empty then 0 else t.lines end,
       closed_ms = case when old.is_empty then $1::bigint else 0 end,
       idle_ms = $1
  from old where t.topic_id = old.topic_id
returning (t.closed_ms > 0)::int
