-- oldest program: 0.1.0
-- Licence seats. See src/seats/README.md for the invariants.

-- Whose licences they are; the id is the token's tenant. The first licence of an organisation makes its row.
create table organizations (
  id            text primary key,
  name          text not null,
  contact_email text not null,
  metadata      text not null,  -- a JSON object, or ''
  created_ms    integer not null
) strict;

-- One row per licence, never deleted: what is locked by whatever gives, frees or deletes a seat, or writes the log.
create table licenses (
  id               blob primary key,
  tenant           text not null,
  name             text not null,
  state            integer not null,  -- 0 active, 1 suspended, 2 revoked
  seats            integer not null,
  ttl_ms           integer not null,
  interval_ms      integer not null,    -- how often its holders are told to send heartbeats
  grace_ms         integer not null,
  valid_from_ms    integer not null,    -- 0: always
  valid_until_ms   integer not null,    -- 0: for ever
  metadata         text not null,      -- a JSON object, or ''
  key_hint         text not null,  -- the last symbols of its latest key
  revision         integer not null,
  created_ms       integer not null,
  row_count        integer not null,    -- rows in seats
  held             integer not null,    -- those of them that are not open
  holders          integer not null,    -- those of them that are somebody's holding
  peak             integer not null,    -- the most holders that there were at once,
  peak_ms          integer not null,    -- and when
  last_slot        integer not null,    -- the highest slot that was ever used
  next_ticket      integer not null,
  fence            integer not null,    -- of the latest holding
  last_ms          integer not null,    -- of the latest entry of the log that is no expiry
  look_ms          integer not null,    -- no deadline of a seat that is not open lies before it
  longest_ms       integer not null,    -- the longest ttl and grace that it ever had
  born             integer not null,    -- the store's incarnation when it was made
  incarnation      integer not null,    -- the same when it was changed last
  log_seq          integer not null,    -- of the last entry of its log
  log_hash         blob not null,     -- and its hash
  log_base         integer not null     -- the first entry that is still there
) strict;
create index licenses_by_tenant on licenses (tenant, id);
create index licenses_to_look_at on licenses (look_ms);

-- Keys are not here: only what they hash to.
create table license_keys (
  tenant     text not null,
  key_hash   blob not null,    -- SHA-256
  license_id blob not null,
  hint       text not null,
  until_ms   integer not null,   -- 0: for ever
  primary key (tenant, key_hash)
) strict;
create index license_keys_by_license on license_keys (license_id);

-- One row per seat that was bought: a grant takes one, so there are never more holders than rows. No index on the
-- deadline: a heartbeat changes beat_ms and expires_ms alone.
create table seats (
  license_id     blob not null,
  slot           integer not null,
  open           integer not null,  -- 1: to be had: free, or its holding has lapsed
  lapsed_ms      integer not null,    -- of an open one: when its holding lapsed; 0: it is free
  session_id     blob,               -- of the holding; null: free, offered, or kept for its machine
  machine        text,   -- null: free
  person         text not null,
  fence          integer not null,
  started_ms     integer not null,
  beat_ms        integer not null,
  expires_ms     integer not null,    -- the deadline that its holder was told; of an offer: its end
  prior_ms       integer not null,    -- until when a former process of this machine may believe that it has the seat
  revoked        integer not null,
  ticket_id      blob,               -- of the one that it is offered to
  address        text not null,
  user_agent     text not null,
  metadata       text not null,      -- a JSON object, or ''
  primary key (license_id, slot)
) strict;
create unique index seats_by_session on seats (session_id) where session_id is not null;
create unique index seats_by_machine on seats (license_id, machine) where machine is not null;
create index seats_open on seats (license_id, lapsed_ms, slot) where open = 1;
create index seats_offered on seats (license_id, slot) where ticket_id is not null;

-- The waiting line of a licence.
create table seat_tickets (
  license_id blob not null,
  number     integer not null,
  ticket_id  blob not null,
  machine    text not null,
  person     text not null,
  process    text not null,    -- where its request waits; '': none is open
  expires_ms integer not null,  -- not refreshed until then: dead
  slot       integer,           -- offered to it; null: it waits
  placed_ms  integer not null,
  primary key (license_id, number)
) strict;
create unique index seat_tickets_by_id on seat_tickets (ticket_id);
create unique index seat_tickets_by_machine on seat_tickets (license_id, machine);

-- What happened to a licence and its seats, hash-chained (src/seats/log_entry.hpp). Only ever added to.
create table seat_log (
  license_id blob not null,
  seq        integer not null,
  at_ms      integer not null,
  kind       text not null,
  session_id blob,
  slot       integer,
  fence      integer,
  detail     text not null,  -- a JSON object
  hash       blob not null,
  former_id  blob,           -- the holding that a resumption ended; also in the detail
  primary key (license_id, seq)
) strict;
create index seat_log_by_session on seat_log (session_id, seq) where session_id is not null;
create index seat_log_by_former on seat_log (former_id) where former_id is not null;
create index seat_log_checkpoints on seat_log (license_id, seq) where kind = 'LICENSE_LOG_CHECKPOINT';

create trigger seat_log_append_only before update on seat_log
begin
  select raise(abort, 'the log of seats is append-only: UPDATE is refused');
end;
-- REPLACE would remove a row without asking the trigger below.
create trigger seat_log_no_replace before insert on seat_log
  when exists (select 1 from seat_log where license_id = new.license_id and seq = new.seq)
begin
  select raise(abort, 'the log of seats is append-only: REPLACE is refused');
end;
-- The retention's way: first a checkpoint is written and becomes the log's base, then what lies before it may go.
create trigger seat_log_retention_only before delete on seat_log
  when old.seq >= (select log_base from licenses where id = old.license_id)
begin
  select raise(abort, 'the log of seats is append-only: DELETE of what is not before licenses.log_base is refused');
end;
create trigger licenses_base_rises before update on licenses when new.log_base < old.log_base
begin
  select raise(abort, 'the log of seats is append-only: licenses.log_base only rises');
end;
