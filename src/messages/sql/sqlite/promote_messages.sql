-- Gives messages whose time has come their place in their line: behind all that are ready. ?1 now_ms, ?2 limit
-- Result: tenant, topic, due_ms
update messages set pos = ?1
 where seq in (select seq from messages where pos = 0 and due_ms <= ?1
                and topic_id in (select topic_id from topics) order by due_ms limit ?2)
returning (select tenant from topics t where t.topic_id = messages.topic_id),
          (select name from topics t where t.topic_id = messages.topic_id), due_ms
