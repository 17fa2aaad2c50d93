-- The store's time in whole milliseconds. Runs as a statement of its own, after the statements that take locks:
-- a statement that can wait would read the clock before it waits (docs/ground.md, Time).
-- With it how much of the log is on disk. A log that later ends before that is another one (docs/ground.md,
-- Incarnation). What is not on disk yet does not count: a database that crashed may rightly have lost it.
-- And which table tenure.store is: a dump that was put back under a process that runs made another one.
-- Result: now_ms, flushed, the table's oid (0: there is none)
select floor(extract(epoch from clock_timestamp()) * 1000)::bigint as now_ms, pg_current_wal_flush_lsn() as flushed,
       coalesce(to_regclass('tenure.store')::oid::bigint, 0) as store_table
