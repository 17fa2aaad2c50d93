-- The first window of which something is not acknowledged. Result: number, start_ms; no row when there is none
-- Locks: none
select number, start_ms from usage_windows
 where number = (select min(n) from (select min(number) as n from usage_chunks
                                     union all select min(number) from usage_windows where state = 2))
