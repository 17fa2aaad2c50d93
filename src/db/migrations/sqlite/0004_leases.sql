-- oldest program: 0.1.0
-- earlier checksum: 485ee17d3991c506
-- Leases. See src/leases/README.md for the invariants. Terms are blobs of 16 bytes.
alter table store add column incarnation_ms integer not null default 0;  -- when the incarnation rose last; 0: never
alter table store add column longest_ttl_ms integer not null default 0;  -- of any lease that was ever granted

-- One row per name that was ever granted; it stays after a release, because the fence must never go back.
create table leases (
  tenant       text not null,
  name         text not null,
  fence        integer not null,  -- of the latest grant; 0: there was none yet
  term         blob,              -- of the grant under way (also when it is overdue); null: it was ended
  holder       text not null,
  metadata     text not null,     -- a JSON object, or ''
  ttl_ms       integer not null,
  granted_ms   integer not null,
  renewed_ms   integer not null,
  expires_ms   integer not null,  -- the deadline; once ended: the end
  break_reason text,              -- not null: an operator broke it, no renewal any more
  next_ticket  integer not null,
  primary key (tenant, name)
) strict, without rowid;

-- The highest fence of the names that were removed: new names of the tenant start above it.
create table lease_floors (
  tenant text primary key,
  fence  integer not null
) strict, without rowid;

-- Grants that are over: for people, and so that a term never grants twice.
create table lease_history (
  tenant     text not null,
  name       text not null,
  fence      integer not null,
  term       blob not null,
  holder     text not null,
  granted_ms integer not null,
  ended_ms   integer not null,
  reason     integer not null,  -- 1 released, 2 expired, 4 broken
  detail     text not null,     -- why it was broken
  primary key (tenant, name, fence)
) strict, without rowid;
create unique index lease_history_by_term on lease_history (tenant, name, term);
create index lease_history_by_age on lease_history (ended_ms);

-- Who waits, first come first served. A ticket that its process does not refresh is dead.
create table lease_tickets (
  tenant     text not null,
  name       text not null,
  number     integer not null,
  term       blob not null,
  process    text not null,
  expires_ms integer not null,
  primary key (tenant, name, number)
) strict, without rowid;
create unique index lease_tickets_by_term on lease_tickets (tenant, name, term);
