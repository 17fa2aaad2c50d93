-- oldest program: 0.1.0
-- What is noticed of a restore or a store that hangs, and how long which name is not granted after it (docs/ground.md, Incarnation).
alter table tenure.store
  add column freeze_ms bigint not null default 60000,  -- for how long at least, counted from incarnation_ms
  add column place     text not null default '';       -- oids of the database and of this table; '' until the first look

alter table tenure.leases add column longest_ttl_ms bigint not null default 0;  -- that the name was ever granted for
update tenure.leases set longest_ttl_ms = ttl_ms;

-- The processes that serve this store, each with its last beat: a write that shows that writes are committed.
create table tenure.processes (
  process text collate "C" primary key,
  seen_ms bigint not null
) with (fillfactor = 50);
