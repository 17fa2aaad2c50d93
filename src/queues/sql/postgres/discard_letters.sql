-- Letters that are put away for good: their messages are history. Parameters: $1 session_id[], $2 sequence[]
-- Lock order: under the locks of lock_letters.sql
delete from tenure.queue_dead d using unnest($1::uuid[], $2::bigint[]) as item (session_id, sequence)
 where d.session_id = any (array[item.session_id]) and d.sequence = item.sequence
