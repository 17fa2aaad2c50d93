-- The store's time in whole milliseconds. Runs as a statement of its own, after the statements that take locks:
-- a statement that can wait would read the clock before it waits (spec 05, Time).
-- Result: now_ms
select floor(extract(epoch from clock_timestamp()) * 1000)::bigint as now_ms
