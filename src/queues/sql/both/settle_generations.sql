-- Queues whose older generations have nothing left to hand out: their sessions are empty, and so is the topic of a time
-- without order. Nothing can be added to them. Under the bots lock, in a later statement. Result: a row for each
-- Lock order: queues, after the bots lock
update tenure.queues set oldest = generation
 where oldest < generation
   and not exists (select 1 from tenure.queue_counters c
                    where c.queue_id = queues.queue_id and c.generation < queues.generation
                    group by c.queue_id having sum(c.messages) <> 0 or sum(c.held) <> 0)
   and (scope = 0
        or not exists (select 1 from tenure.topics t join tenure.messages m on m.topic_id = t.topic_id
                        where t.tenant = queues.tenant and t.name = 'queue:' || queues.name))
returning 1
