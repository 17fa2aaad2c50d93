-- Marks overdue sessions as expired; their end stays what it was. Safe anywhere and at any time: nothing depends on
-- it, because an overdue session counts as ended with or without the mark (S2).
-- Whoever changes a session holds its key's lock: so does this. It skips keys that somebody holds (that one will
-- mark the session itself, or the next run does) and therefore never waits. The row was chosen on the statement's
-- snapshot; if the key's last holder ended the session in between, the condition on end_reason is evaluated again on the
-- newest version and the row is left alone.
-- The ids come as an array, not as a join: the plan does not know how few they are and would hash the whole table.
-- Nor may the condition be `is null` there: see end_sessions.sql.
-- Parameters: $1 now_ms, $2 how many at most
-- Result: id
-- Lock order: session_keys with SKIP LOCKED, then the sessions of those keys
with due as (
  select s.id
    from tenure.sessions s
    join tenure.session_keys k on k.user_id = any (array[s.user_id]) and k.capacity_id = s.capacity_id
   where s.end_reason is null and s.end_ms <= $1::bigint
   order by s.end_ms
   limit $2::bigint
     for update of k skip locked
)
update tenure.sessions s
   set end_reason = 3
 where s.id = any (array(select id from due)) and coalesce(s.end_reason, 0) = 0
returning s.id
