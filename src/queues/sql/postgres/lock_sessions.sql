-- Locks sessions for a report that neither raises the fence nor moves the head past what was handed out. Never waits for
-- a user's transaction. Parameters: $1 session_id[]; each once
-- Lock order: sessions, ascending
select item.ordinal
  from unnest($1::uuid[]) with ordinality as item (session_id, ordinal)
  join tenure.queue_sessions s on s.session_id = any (array[item.session_id])
 order by item.session_id
   for no key update of s
