-- Makes a message ready that waited for the word of who follows it. ?1 id, ?2 now_ms. Result: tenant, topic
update messages set pos = ?2, due_ms = ?2 where id = ?1 and pos = 0 and fence = 0
returning (select t.tenant from topics t where t.topic_id = messages.topic_id),
          (select t.name from topics t where t.topic_id = messages.topic_id)
