-- Which transactions are under way (watch.hpp). Result: xmin (all below have ended), xmax (none from here on has begun)
select pg_snapshot_xmin(s)::text::bigint, pg_snapshot_xmax(s)::text::bigint from pg_current_snapshot() as s
