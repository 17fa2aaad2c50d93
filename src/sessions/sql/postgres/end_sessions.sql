-- Ends sessions: sets the actual end and its reason. Only the latest session of a key can be open, and the caller
-- holds the key's lock, so the condition on end_reason never fails; it stands there so that an ended session can
-- not change even then.
-- It is not written `is null`: the index of open sessions, which has that condition, is no way to find a few ids.
-- Parameters: $1 id[], $2 end_ms[], $3 end_reason[]
-- Lock order: under the locks of lock_keys.sql
update tenure.sessions s
   set end_ms = item.end_ms, end_reason = item.end_reason
  from unnest($1::uuid[], $2::bigint[], $3::bigint[]) as item (id, end_ms, end_reason)
 where s.id = any (array[item.id]) and coalesce(s.end_reason, 0) = 0
