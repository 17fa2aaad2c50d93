-- Whether a server process is still at work on what was sent to it. It may be one of a connection that was given up.
-- Parameters: $1 pid, $2 when it was started, as read_store.sql has it
-- Result: a row if it is
-- Locks: none
select 1::text from pg_stat_get_activity($1::integer) where backend_start = $2::timestamptz and state <> 'idle'
