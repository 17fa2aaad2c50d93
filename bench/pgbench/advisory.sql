-- PostgreSQL's own locks: taken and given back, each in a statement that is its own transaction. They are
-- not durable, have no deadline and no fence, and end with their connection: reported beside.
\set key random(1, 1000000000)
select pg_try_advisory_lock(:key);
select pg_advisory_unlock(:key);
