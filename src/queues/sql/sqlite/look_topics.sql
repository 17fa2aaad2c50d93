-- Whether a queue still has messages of a time when it kept no order: its topic hands those out. ?1 queue_id
-- Result: a row, if it has
select 1
  from queues q join topics t on t.tenant = q.tenant and t.name = 'queue:' || q.name
 where q.queue_id = ?1 and exists (select 1 from messages m where m.topic_id = t.topic_id)
