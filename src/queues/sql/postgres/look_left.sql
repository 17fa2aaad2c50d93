-- What an accept leaves behind, after it wrote: is there one that may be taken, and when must somebody look again? Without
-- locks, so that it sees what was passed over. Parameters: $1 queue_id[], $2 generation[]; each queue once; $3 now_ms
-- Result: ordinal, 1: one may be taken, the next time that somebody must look (null: never)
-- Locks: none
select item.ordinal,
       (exists (select from tenure.queue_sessions s
                 where s.queue_id = item.queue_id and s.generation = item.generation and s.position > 0)
        or exists (select from tenure.queue_sessions s
                    where s.queue_id = item.queue_id and s.due_ms > 0 and s.due_ms <= $3::bigint))::int::bigint,
       (select s.due_ms from tenure.queue_sessions s
         where s.queue_id = item.queue_id and s.due_ms > 0 and s.due_ms > $3::bigint order by s.due_ms limit 1)
  from unnest($1::bigint[], $2::bigint[]) with ordinality as item (queue_id, generation, ordinal)
