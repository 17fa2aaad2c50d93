-- These letters were sent once more. Parameters: $1 session_id[], $2 sequence[], $3 now_ms
-- Lock order: under the locks of lock_letters.sql
update tenure.queue_dead d set replayed_ms = $3::bigint
  from unnest($1::uuid[], $2::bigint[]) as item (session_id, sequence)
 where d.session_id = any (array[item.session_id]) and d.sequence = item.sequence
