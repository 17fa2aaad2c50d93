-- Locks the keys of a batch, whether or not they ever had a session. A key that is new gets its row here, and the
-- insert is its lock; for a known key the upsert locks the row and, because of "where false", writes nothing.
-- Parameters: $1 user_id[], $2 capacity_id[]; each key once
-- Lock order: session_keys in ascending (user_id, capacity_id), in this one statement. Every transaction that
-- starts or ends a session takes all its key locks here and waits for nothing afterwards, so two processes cannot
-- deadlock.
insert into tenure.session_keys (user_id, capacity_id)
select user_id, capacity_id
  from unnest($1::uuid[], $2::uuid[]) as item (user_id, capacity_id)
 order by user_id, capacity_id
on conflict (user_id, capacity_id) do update set user_id = excluded.user_id where false
