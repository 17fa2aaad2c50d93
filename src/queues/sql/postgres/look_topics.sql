-- Which queues still have messages of a time when they kept no order: their topics hand those out.
-- Parameters: $1 queue_id[]; each once. Result: ordinal, of those that have
-- Locks: none. Messages that wait for their time have no index by topic: only asked while an older generation is there.
select item.ordinal
  from unnest($1::bigint[]) with ordinality as item (queue_id, ordinal)
  join tenure.queues q on q.queue_id = any (array[item.queue_id])
  join tenure.topics t on t.tenant = q.tenant and t.name = 'queue:' || q.name
 where exists (select from tenure.messages m where m.topic_id = t.topic_id and m.pos > 0)
    or exists (select from tenure.messages m where m.topic_id = t.topic_id and m.pos = 0)
