-- Deletes keys that have no session. A writer that waits for such a key inserts it anew.
-- Parameters: $1 user_id[], $2 capacity_id[]; each key once, locked by lock_idle_keys.sql
delete from tenure.session_keys k
 using unnest($1::uuid[], $2::uuid[]) as item (user_id, capacity_id)
 where k.user_id = item.user_id and k.capacity_id = item.capacity_id
   and not exists (select from tenure.sessions s where s.user_id = k.user_id and s.capacity_id = k.capacity_id)
