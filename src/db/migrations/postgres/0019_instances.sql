-- oldest program: 0.1.0
-- Which processes there are, as each of them says every 10 seconds (src/overview/instances.hpp). Nothing is decided by it.
create table tenure.instances (
  instance           text collate "C" primary key,  -- "host:pid:random"
  version            text not null,
  host               text not null,
  started_ms         bigint not null,  -- by its own clock
  seen_ms            bigint not null,
  left_ms            bigint not null,  -- when it said good-bye; 0: it did not
  workers            bigint not null,  -- 0 or 1
  requests_per_1000s bigint not null,
  clock_gap_ms       bigint not null,  -- how far its clock is ahead of the store's
  lanes              bigint not null
);
