-- oldest program: 0.1.0
-- How long which name is not granted after a restore (docs/ground.md, Incarnation).
alter table store add column freeze_ms integer not null default 60000;  -- for how long at least, from incarnation_ms on

alter table leases add column longest_ttl_ms integer not null default 0;  -- that the name was ever granted for
update leases set longest_ttl_ms = ttl_ms;

-- The process that serves this store, with its last beat: a write that shows that writes are committed.
create table processes (
  process text primary key,
  seen_ms integer not null
) strict, without rowid;
