-- What messages hang below, as their headers said it; only asked where traces are recorded. Parameters: $1 session_id[], each once;
-- $2 the first sequence[], $3 the first that is not asked for[], $4 rows at most
-- Result: ordinal, sequence, id, trace; of those that have one
-- Locks: none
select item.ordinal, m.sequence, m.id, m.trace
  from unnest($1::uuid[], $2::bigint[], $3::bigint[]) with ordinality as item (session_id, first, past, ordinal)
  join tenure.queue_messages m on m.session_id = any (array[item.session_id])
                              and m.sequence >= item.first and m.sequence < item.past
 where m.trace <> ''
 limit $4::bigint
