-- Forgets windows that ended before $1 and have nothing that is to be acknowledged, from the oldest on; never the last.
-- Parameters: $1 ended before this ms, $2 before this number, $3 how many at most
-- Result: number
-- Lock order: usage_windows ascending
delete from tenure.usage_windows
 where number in (select number from tenure.usage_windows
                   where end_ms < $1::bigint and number < $2::bigint
                     and number < (select max(number) from tenure.usage_windows)
                   order by number limit $3::bigint)
returning number
