-- Opens topics again that were closed and got something all the same: in any of their lines. ?1 limit
-- Result: a row for each
update topics set lines = 1048575, idle_ms = 0, closed_ms = 0
 where topic_id in (
       select topic_id from topics where closed_ms > 0
         and not (not exists (select 1 from messages m where m.topic_id = topics.topic_id and m.pos > 0)
         and not exists (select 1 from messages m where m.topic_id = topics.topic_id and m.pos = 0)
         and not exists (select 1 from dead_letters d where d.topic_id = topics.topic_id and d.redriven_ms = 0)
         and not exists (select 1 from message_keys k where k.topic_id = topics.topic_id))
        limit ?1)
returning 1
