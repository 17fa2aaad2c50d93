-- Locks keys that may have no session any more, before delete_idle_keys.sql looks whether that is so: the look must
-- be a statement of its own after the lock, or it would not see a session that was committed while it waited.
-- Parameters: $1 user_id[], $2 capacity_id[]; each key once
-- Result: ordinal of each key that was locked
-- Lock order: session_keys with SKIP LOCKED: it waits for nobody
select item.ordinal
  from unnest($1::uuid[], $2::uuid[]) with ordinality as item (user_id, capacity_id, ordinal)
  join tenure.session_keys k on k.user_id = any (array[item.user_id]) and k.capacity_id = item.capacity_id
   for update of k skip locked
