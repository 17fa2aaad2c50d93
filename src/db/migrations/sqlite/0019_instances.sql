-- oldest program: 0.1.0
-- On this engine there is one process, which knows itself: it writes no row. The number is kept in step with PostgreSQL's.
select 1;
