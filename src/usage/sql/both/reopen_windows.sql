-- Windows that nobody was told of are to be sent after all. Parameters: $1 from this number on, $2 none that began before
-- Result: number
-- Lock order: under the lock of sessions' lock_bounds.sql; usage_windows
update tenure.usage_windows set state = 2
 where number >= $1::bigint and state = 1 and start_ms >= $2::bigint
returning number
