-- Accepts of a queue that has a cap or an older generation, one after another: each counts what the one before it granted.
-- Parameters: $1 queue_id[]; each once
-- Lock order: after the bots lock and dedup keys, before sessions; ascending
select item.ordinal
  from unnest($1::bigint[]) with ordinality as item (queue_id, ordinal)
  join tenure.queue_gates g on g.queue_id = item.queue_id
 order by g.queue_id
   for update of g
