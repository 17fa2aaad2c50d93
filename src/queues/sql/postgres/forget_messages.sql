-- Messages whose history is over. Parameters: $1 session_id[], $2 sequence[]
-- Lock order: these rows, which nobody else changes
delete from tenure.queue_messages m using unnest($1::uuid[], $2::bigint[]) as item (session_id, sequence)
 where m.session_id = any (array[item.session_id]) and m.sequence = item.sequence
