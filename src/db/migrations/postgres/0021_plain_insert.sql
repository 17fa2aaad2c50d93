-- oldest program: 0.1.0
-- On this engine messages have a check, which costs nothing to speak of. The number is kept in step with SQLite's.
select 1;
