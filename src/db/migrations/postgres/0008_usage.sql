-- oldest program: 0.1.0
-- earlier checksum: f211bfd346c9d4a5
-- Usage. See src/usage/README.md for the invariants.

-- What usage has fixed about sessions (src/sessions/usage_seal.hpp). One row.
create table tenure.session_bounds (
  one        smallint primary key default 1 check (one = 1),
  sealed_ms  bigint not null,  -- no session starts or ends before it any more
  settled_ms bigint not null,  -- all usage before it is acknowledged, or nobody wants it
  removed_ms bigint not null   -- sessions that ended before it may be gone
);
insert into tenure.session_bounds (sealed_ms, settled_ms, removed_ms) values (0, 0, 0);

-- How the sessions of a window are found in the order of their ids, whatever the history: those that are open. (Those
-- that have ended since the window began: sessions_ended.)
create index sessions_open on tenure.sessions (id) where end_reason is null;

-- Windows that are closed.
create table tenure.usage_windows (
  number      bigint not null primary key,  -- 1, 2, 3 … without a gap
  start_ms    bigint not null,
  end_ms      bigint not null,
  sealed_ms   bigint not null,              -- the store's time when it was closed
  incarnation bigint not null,              -- of the store then; part of the keys that are sent
  state       smallint not null,             -- 1 closed, nobody is told; 2 being put into chunks; 3 all of it is in chunks
  last_id     uuid not null,              -- the last session that is in a chunk; nil: none yet
  chunks      bigint not null,
  records     bigint not null
);
create index usage_windows_emitting on tenure.usage_windows (number) where state = 2;

-- What is to be acknowledged by the receiver: a run of sessions of one window. Gone once it is.
create table tenure.usage_chunks (
  number     bigint not null,
  chunk      text not null,      -- "7"; its halves are "7.0" and "7.1"
  first_id   uuid not null,
  last_id    uuid not null,
  records    bigint not null,
  format     smallint not null,  -- how its records are written
  refused_ms bigint not null,    -- since when the receiver refuses it, a single record then; 0: it does not
  answer     text not null,      -- with which words
  primary key (number, chunk)
);

-- What a kind costs, from when on. Only ever added, and only for the time after the last window that was closed.
create table tenure.usage_factors (
  kind    smallint not null check (kind between 1 and 3),
  from_ms bigint not null,
  factor  bigint not null check (factor >= 0),  -- in millionths
  set_ms  bigint not null,
  primary key (kind, from_ms)
);
