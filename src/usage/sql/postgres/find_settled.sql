-- The first window of which something is not acknowledged. Result: number, start_ms; no row when there is none
-- Locks: none
select number, start_ms from tenure.usage_windows
 where number = (select least((select min(number) from tenure.usage_chunks),
                              (select min(number) from tenure.usage_windows where state = 2)))
