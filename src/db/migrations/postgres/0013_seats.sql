-- oldest program: 0.1.0
-- Licence seats. See src/seats/README.md for the invariants.

-- Whose licences they are; the id is the token's tenant. The first licence of an organisation makes its row.
create table tenure.organizations (
  id            text collate "C" primary key,
  name          text not null,
  contact_email text not null,
  metadata      text not null,  -- a JSON object, or ''
  created_ms    bigint not null
);

-- One row per licence, never deleted: what is locked by whatever gives, frees or deletes a seat, or writes the log.
create table tenure.licenses (
  id               uuid primary key,
  tenant           text collate "C" not null,
  name             text not null,
  state            smallint not null,  -- 0 active, 1 suspended, 2 revoked
  seats            bigint not null,
  ttl_ms           bigint not null,
  interval_ms      bigint not null,    -- how often its holders are told to send heartbeats
  grace_ms         bigint not null,
  valid_from_ms    bigint not null,    -- 0: always
  valid_until_ms   bigint not null,    -- 0: for ever
  metadata         text not null,      -- a JSON object, or ''
  key_hint         text collate "C" not null,  -- the last symbols of its latest key
  revision         bigint not null,
  created_ms       bigint not null,
  row_count        bigint not null,    -- rows in seats
  held             bigint not null,    -- those of them that are not open
  holders          bigint not null,    -- those of them that are somebody's holding
  peak             bigint not null,    -- the most holders that there were at once,
  peak_ms          bigint not null,    -- and when
  last_slot        bigint not null,    -- the highest slot that was ever used
  next_ticket      bigint not null,
  fence            bigint not null,    -- of the latest holding
  last_ms          bigint not null,    -- of the latest entry of the log that is no expiry
  look_ms          bigint not null,    -- no deadline of a seat that is not open lies before it
  longest_ms       bigint not null,    -- the longest ttl and grace that it ever had
  born             bigint not null,    -- the store's incarnation when it was made
  incarnation      bigint not null,    -- the same when it was changed last
  log_seq          bigint not null,    -- of the last entry of its log
  log_hash         bytea not null,     -- and its hash
  log_base         bigint not null     -- the first entry that is still there
) with (fillfactor = 70);
create index licenses_by_tenant on tenure.licenses (tenant, id);
create index licenses_to_look_at on tenure.licenses (look_ms);

-- Keys are not here: only what they hash to.
create table tenure.license_keys (
  tenant     text collate "C" not null,
  key_hash   bytea not null,    -- SHA-256
  license_id uuid not null,
  hint       text not null,
  until_ms   bigint not null,   -- 0: for ever
  primary key (tenant, key_hash)
);
create index license_keys_by_license on tenure.license_keys (license_id);

-- One row per seat that was bought: a grant takes one, so there are never more holders than rows. No index on the
-- deadline: a heartbeat changes beat_ms and expires_ms alone, and is a HOT update that copies no metadata.
create table tenure.seats (
  license_id     uuid not null,
  slot           bigint not null,
  open           smallint not null,  -- 1: to be had: free, or its holding has lapsed
  lapsed_ms      bigint not null,    -- of an open one: when its holding lapsed; 0: it is free
  session_id     uuid,               -- of the holding; null: free, offered, or kept for its machine
  machine        text collate "C",   -- null: free
  person         text not null,
  fence          bigint not null,
  started_ms     bigint not null,
  beat_ms        bigint not null,
  expires_ms     bigint not null,    -- the deadline that its holder was told; of an offer: its end
  prior_ms       bigint not null,    -- until when a former process of this machine may believe that it has the seat
  revoked        smallint not null,
  ticket_id      uuid,               -- of the one that it is offered to
  address        text not null,
  user_agent     text not null,
  metadata       text not null,      -- a JSON object, or ''
  primary key (license_id, slot)
) with (fillfactor = 70, toast_tuple_target = 128);
create unique index seats_by_session on tenure.seats (session_id) where session_id is not null;
create unique index seats_by_machine on tenure.seats (license_id, machine) where machine is not null;
create index seats_open on tenure.seats (license_id, lapsed_ms, slot) where open = 1;
create index seats_offered on tenure.seats (license_id, slot) where ticket_id is not null;

-- The waiting line of a licence.
create table tenure.seat_tickets (
  license_id uuid not null,
  number     bigint not null,
  ticket_id  uuid not null,
  machine    text collate "C" not null,
  person     text not null,
  process    text not null,    -- where its request waits; '': none is open
  expires_ms bigint not null,  -- not refreshed until then: dead
  slot       bigint,           -- offered to it; null: it waits
  placed_ms  bigint not null,
  primary key (license_id, number)
) with (fillfactor = 70);
create unique index seat_tickets_by_id on tenure.seat_tickets (ticket_id);
create unique index seat_tickets_by_machine on tenure.seat_tickets (license_id, machine);

-- What happened to a licence and its seats, hash-chained (src/seats/log_entry.hpp). Only ever added to.
create table tenure.seat_log (
  license_id uuid not null,
  seq        bigint not null,
  at_ms      bigint not null,
  kind       text collate "C" not null,
  session_id uuid,
  slot       bigint,
  fence      bigint,
  detail     text not null,  -- a JSON object
  hash       bytea not null,
  former_id  uuid,           -- the holding that a resumption ended; also in the detail
  primary key (license_id, seq)
);
create index seat_log_by_session on tenure.seat_log (session_id, seq) where session_id is not null;
create index seat_log_by_former on tenure.seat_log (former_id) where former_id is not null;
create index seat_log_checkpoints on tenure.seat_log (license_id, seq) where kind = 'LICENSE_LOG_CHECKPOINT';

create function tenure.seat_log_refuse() returns trigger language plpgsql as $$
begin
  raise exception 'the log of seats is append-only: % on tenure.% is refused', tg_op, tg_table_name;
end
$$;
-- The retention's way: first a checkpoint is written and becomes the log's base, then what lies before it may go.
create function tenure.seat_log_check_delete() returns trigger language plpgsql as $$
begin
  if old.seq >= (select log_base from tenure.licenses where id = old.license_id) then
    raise exception 'the log of seats is append-only: DELETE of what is not before licenses.log_base is refused';
  end if;
  return old;
end
$$;
create function tenure.seat_log_check_base() returns trigger language plpgsql as $$
begin
  raise exception 'the log of seats is append-only: licenses.log_base only rises';
end
$$;
create trigger seat_log_append_only before update or truncate on tenure.seat_log
  for each statement execute function tenure.seat_log_refuse();
create trigger seat_log_retention_only before delete on tenure.seat_log
  for each row execute function tenure.seat_log_check_delete();
create trigger licenses_base_rises before update on tenure.licenses
  for each row when (new.log_base < old.log_base) execute function tenure.seat_log_check_base();
