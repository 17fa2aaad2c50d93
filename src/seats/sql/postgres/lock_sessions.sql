-- Locks the seats of holdings that are to be renewed, those that nobody else has locked.
-- Parameters: $1 session_id[]; each once
-- Result: ordinal of each that is locked now
-- Lock order: seats with SKIP LOCKED: it waits for nobody, and takes no lock of a licence
select item.ordinal
  from unnest($1::uuid[]) with ordinality as item (session_id, ordinal)
  join tenure.seats s on s.session_id = any (array[item.session_id])
   for no key update of s skip locked
