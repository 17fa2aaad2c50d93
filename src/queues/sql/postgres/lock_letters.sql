-- Messages that were passed over, by the ids of their letters' places, but for those that somebody changes just now.
-- Parameters: $1 tenant, $2 queue, $3 session_id[], $4 sequence[]; each pair once
-- Result: ordinal, bytes
-- Lock order: before the locks of any session; passes over what is locked
select item.ordinal, m.bytes
  from unnest($3::uuid[], $4::bigint[]) with ordinality as item (session_id, sequence, ordinal)
  join tenure.queue_dead d on d.session_id = any (array[item.session_id]) and d.sequence = item.sequence and d.replayed_ms = 0
  join tenure.queues q on q.queue_id = d.queue_id and q.tenant = $1::text and q.name = $2::text
  join tenure.queue_messages m on m.session_id = d.session_id and m.sequence = d.sequence
 order by item.ordinal
   for update of d skip locked
