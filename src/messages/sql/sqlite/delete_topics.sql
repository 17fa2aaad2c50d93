-- Deletes topics that were closed long enough ago and stayed empty: no process remembers their number any more
-- (topic_cache.hpp, 1). ?1 closed before, ?2 limit. Result: a row for each
delete from topics
 where topic_id in (
       select topic_id from topics where closed_ms > 0 and closed_ms <= ?1 and lines = 0
         and not exists (select 1 from messages m where m.topic_id = topics.topic_id and m.pos > 0)
         and not exists (select 1 from messages m where m.topic_id = topics.topic_id and m.pos = 0)
         and not exists (select 1 from dead_letters d where d.topic_id = topics.topic_id and d.redriven_ms = 0)
         and not exists (select 1 from message_keys k where k.topic_id = topics.topic_id)
        limit ?2)
returning 1
