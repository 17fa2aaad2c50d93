-- oldest program: 0.1.0
-- Heartbeats of seats in a Redis beside the store (src/seats/promise.hpp).
alter table seats add column horizon_ms integer not null default 0;  -- no Redis promised the seat for longer; 0: none did
alter table seats add column epoch integer not null default 0;       -- under which it was put there last

-- One row: which Redis keeps heartbeats.
create table seat_ledger (
  only_one   integer primary key check (only_one = 1),
  epoch      integer not null,
  identity   text,                 -- of its process and its history; null: none does
  frozen_ms  integer not null,     -- until then what was promised under an older epoch may count
  offset_ms  integer not null,     -- its time less the store's when the epoch began
  used_ms    integer not null,     -- when a process last said that it uses it
  lag_ms     integer not null,     -- so long after a bump who has not heard of it may begin a promise
  incarnation integer not null     -- the store's when the epoch began; another one: promises were forgotten
) strict;
insert into seat_ledger values (1, 0, null, 0, 0, 0, 0, 0);
