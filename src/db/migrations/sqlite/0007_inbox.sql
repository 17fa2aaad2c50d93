-- oldest program: 0.1.0
-- earlier checksum: 43df1f6cfd637881
-- The inbox. See src/inbox/README.md for the invariants. Terms are blobs of 16 bytes.
-- One row per inbound message that was ever begun, until its retention is over.
create table inbox (
  tenant         text not null,
  source         text not null,
  message_id     text not null,
  state          integer not null,  -- 1 claimed, 2 retrying, 3 done, 4 dead
  fence          integer not null,  -- of the latest claim; never goes back
  term           blob,              -- that the claimer chose, if any
  hash           text,              -- of the message; null: nobody told it yet
  lease_until_ms integer not null,  -- until when the latest claim keeps others away
  not_before_ms  integer not null,  -- retrying: until when the back-off lasts
  attempts       integer not null,  -- failures that were reported
  crashes        integer not null,  -- claims that ended without a word
  result         text,              -- done: JSON, if there is one
  error          text,              -- of the last failure
  received_ms    integer not null,  -- the first delivery
  updated_ms     integer not null,  -- the last claim, completion or failure
  primary key (tenant, source, message_id)
) strict;
create index inbox_by_age on inbox (received_ms);
-- Claims under way: those that are overdue for long are stuck.
create index inbox_claimed on inbox (lease_until_ms) where state = 1;

-- The highest fence of the entries that were removed: new entries of the tenant start above it.
create table inbox_floors (
  tenant text primary key,
  fence  integer not null
) strict, without rowid;
