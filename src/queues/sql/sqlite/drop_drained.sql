-- Queues whose bots were removed and that have nothing left. Result: a row for each
update queues set state = 2
 where state = 1
   and not exists (select 1 from queue_counters c where c.queue_id = queues.queue_id
                    group by c.queue_id having sum(c.messages) <> 0 or sum(c.held) <> 0)
   and not exists (select 1 from topics t join messages m on m.topic_id = t.topic_id
                    where t.tenant = queues.tenant and t.name = 'queue:' || queues.name)
returning 1
