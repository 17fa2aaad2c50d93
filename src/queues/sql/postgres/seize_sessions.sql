-- Locks sessions whose fence or head will move: a user's transaction that holds one FOR KEY SHARE (tenure.queue_complete)
-- is passed over, and what is passed over is asked again. Parameters: $1 session_id[]; each once
-- Result: ordinal of each that was locked
-- Lock order: sessions, ascending, SKIP LOCKED
select item.ordinal
  from unnest($1::uuid[]) with ordinality as item (session_id, ordinal)
  join tenure.queue_sessions s on s.session_id = any (array[item.session_id])
 order by item.session_id
   for update of s skip locked
