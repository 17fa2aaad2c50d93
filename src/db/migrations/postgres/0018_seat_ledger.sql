-- oldest program: 0.1.0
-- Heartbeats of seats in a Redis beside the store (src/seats/promise.hpp).
alter table tenure.seats
  add column horizon_ms bigint not null default 0,  -- no Redis promised the seat for longer; 0: none did
  add column epoch bigint not null default 0;       -- under which it was put there last

-- One row: which Redis keeps heartbeats.
create table tenure.seat_ledger (
  only_one   smallint primary key check (only_one = 1),
  epoch      bigint not null,
  identity   text collate "C",     -- of its process and its history; null: none does
  frozen_ms  bigint not null,      -- until then what was promised under an older epoch may count
  offset_ms  bigint not null,      -- its time less the store's when the epoch began
  used_ms    bigint not null,      -- when a process last said that it uses it
  lag_ms     bigint not null,      -- so long after a bump who has not heard of it may begin a promise
  incarnation bigint not null      -- the store's when the epoch began; another one: promises were forgotten
);
insert into tenure.seat_ledger values (1, 0, null, 0, 0, 0, 0, 0);
