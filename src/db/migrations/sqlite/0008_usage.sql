-- oldest program: 0.1.0
-- earlier checksum: 6cc29067131415e2
-- Usage. See src/usage/README.md for the invariants. Ids are blobs of 16 bytes.

-- What usage has fixed about sessions (src/sessions/usage_seal.hpp). One row.
create table session_bounds (
  one        integer primary key check (one = 1),
  sealed_ms  integer not null,  -- no session starts or ends before it any more
  settled_ms integer not null,  -- all usage before it is acknowledged, or nobody wants it
  removed_ms integer not null   -- sessions that ended before it may be gone
) strict;
insert into session_bounds (one, sealed_ms, settled_ms, removed_ms) values (1, 0, 0, 0);

-- How the sessions of a window are found in the order of their ids, whatever the history: those that are open. (Those
-- that have ended since the window began: sessions_ended.)
create index sessions_open on sessions (id) where end_reason is null;

-- Windows that are closed.
create table usage_windows (
  number      integer not null primary key,  -- 1, 2, 3 … without a gap
  start_ms    integer not null,
  end_ms      integer not null,
  sealed_ms   integer not null,              -- the store's time when it was closed
  incarnation integer not null,              -- of the store then; part of the keys that are sent
  state       integer not null,             -- 1 closed, nobody is told; 2 being put into chunks; 3 all of it is in chunks
  last_id     blob not null,              -- the last session that is in a chunk; nil: none yet
  chunks      integer not null,
  records     integer not null
) strict;
create index usage_windows_emitting on usage_windows (number) where state = 2;

-- What is to be acknowledged by the receiver: a run of sessions of one window. Gone once it is.
create table usage_chunks (
  number     integer not null,
  chunk      text not null,      -- "7"; its halves are "7.0" and "7.1"
  first_id   blob not null,
  last_id    blob not null,
  records    integer not null,
  format     integer not null,   -- how its records are written
  refused_ms integer not null,   -- since when the receiver refuses it, a single record then; 0: it does not
  answer     text not null,      -- with which words
  primary key (number, chunk)
) strict, without rowid;

-- What a kind costs, from when on. Only ever added, and only for the time after the last window that was closed.
create table usage_factors (
  kind    integer not null check (kind between 1 and 3),
  from_ms integer not null,
  factor  integer not null check (factor >= 0),  -- in millionths
  set_ms  integer not null,
  primary key (kind, from_ms)
) strict, without rowid;
