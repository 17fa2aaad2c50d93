-- Whether something that users' transactions sent waits to enter queues. Parameters: $1 tenant[], $2 queue[]; each pair once
-- Result: ordinal of each that has such
-- Locks: none
select item.ordinal
  from unnest($1::text[], $2::text[]) with ordinality as item (tenant, queue, ordinal)
 where exists (select from tenure.queue_staged s
                where s.tenant = item.tenant and s.queue = item.queue and s.number > 0)
