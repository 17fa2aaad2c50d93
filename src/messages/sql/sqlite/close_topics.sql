-- Closes topics that nobody has asked for, changed or filled for long: whoever sends to them now must open them. One that
-- is not empty is looked at again after that time. Not those of Tenure itself, and not those that are paused.
-- ?1 now_ms, ?2 unused since, ?3 limit. Result: 1 for each that was closed, 0 for each that is not empty
update topics
   set closed_ms = case when is_empty then ?1 else 0 end, lines = case when is_empty then 0 else lines end, idle_ms = ?1
  from (select topic_id as id,
         not exists (select 1 from messages m where m.topic_id = topics.topic_id and m.pos > 0)
         and not exists (select 1 from messages m where m.topic_id = topics.topic_id and m.pos = 0)
         and not exists (select 1 from dead_letters d where d.topic_id = topics.topic_id and d.redriven_ms = 0)
         and not exists (select 1 from message_keys k where k.topic_id = topics.topic_id) as is_empty
          from topics
         where closed_ms = 0 and idle_ms > 0 and paused_ms = 0 and tenant <> '' and idle_ms <= ?2
           and max(idle_ms, asked_ms) + min(max(retention_ms, 0), 315360000000) <= ?2
         limit ?3) as old
 where topics.topic_id = old.id
returning closed_ms > 0
