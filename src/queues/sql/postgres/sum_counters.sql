-- What the generations of queues have. After the gate, in a statement of its own. Parameters: $1 queue_id[]; each once
-- Result: ordinal, generation, messages, bytes, ready, held, parked; by generation
-- Locks: none
select item.ordinal, c.generation, sum(c.messages)::bigint, sum(c.bytes)::bigint, sum(c.ready)::bigint,
       sum(c.held)::bigint, sum(c.parked)::bigint
  from unnest($1::bigint[]) with ordinality as item (queue_id, ordinal)
  join tenure.queue_counters c on c.queue_id = any (array[item.queue_id])
 group by item.ordinal, c.generation
 order by item.ordinal, c.generation
