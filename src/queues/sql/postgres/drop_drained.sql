-- Queues whose bots were removed and that have nothing left. Under the bots lock, in a later statement: nothing can come any
-- more. Result: a row for each
-- Lock order: queues, after the bots lock
update tenure.queues q set state = 2
 where q.state = 1
   and not exists (select from tenure.queue_counters c where c.queue_id = q.queue_id
                    group by c.queue_id having sum(c.messages) <> 0 or sum(c.held) <> 0)
   and not exists (select from tenure.topics t join tenure.messages m on m.topic_id = t.topic_id
                    where t.tenant = q.tenant and t.name = 'queue:' || q.name)
   and not exists (select from tenure.queue_staged s where s.tenant = q.tenant and s.queue = q.name)
returning 1
