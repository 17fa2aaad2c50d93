-- What users' transactions completed (tenure.queue_complete). After the locks. Parameters: $1 session_id[]; each once
-- Result: ordinal, fence, sequence, state (null: none)
-- Locks: none
select item.ordinal, k.fence, k.sequence, k.state
  from unnest($1::uuid[]) with ordinality as item (session_id, ordinal)
  join tenure.queue_marks k on k.session_id = any (array[item.session_id])
