-- Where the lines of shares end, and where the line of all begins. Nothing is locked: two transactions may give the same
-- place, which does no harm. Parameters: $1 queue_id[], $2 generation[], $3 share[]; each triple once
-- Result: ordinal, first place of all that are ready, last of the share (0: none is)
-- Locks: none
select item.ordinal,
       coalesce((select s.position from tenure.queue_sessions s
                  where s.queue_id = item.queue_id and s.generation = item.generation and s.position > 0
                  order by s.position limit 1), 0),
       coalesce((select s.position from tenure.queue_sessions s
                  where s.queue_id = item.queue_id and s.generation = item.generation and s.share = item.share
                    and s.position > 0
                  order by s.position desc limit 1), 0)
  from unnest($1::bigint[], $2::bigint[], $3::text[]) with ordinality as item (queue_id, generation, share, ordinal)
