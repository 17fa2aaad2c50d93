-- What consumers keep with sessions. Parameters: $1 session_id[]; each once. Result: ordinal, state, fence, written_ms
-- Locks: none
select item.ordinal, t.state, t.fence, t.written_ms
  from unnest($1::uuid[]) with ordinality as item (session_id, ordinal)
  join tenure.queue_session_states t on t.session_id = any (array[item.session_id])
