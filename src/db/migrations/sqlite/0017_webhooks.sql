-- oldest program: 0.1.0
-- earlier checksum: 084302a3dbf462aa
-- Webhooks. See src/webhooks/README.md for the invariants. Ids are blobs of 16 bytes.

-- Every file of bots that was applied; of a tenant the one with the highest revision counts. Revisions are of the whole
-- store: whoever has seen the highest one has seen all of them.
create table bot_files (
  revision   integer primary key,
  tenant     text not null,
  content    text not null,          -- JSON
  applied_ms integer not null,
  person     text not null           -- who applied it; '': the configuration of a process
) strict;
create index bot_files_by_tenant on bot_files (tenant, revision);

-- What was received, by what its source calls it: a repetition within the window is the same event.
create table webhook_deliveries (
  source      text not null,
  hook        text not null,
  delivery_id text not null,
  event_id    blob not null,
  received_ms integer not null,
  primary key (source, hook, delivery_id)
) strict, without rowid;
create index webhook_deliveries_by_age on webhook_deliveries (received_ms);

-- Events, as received. Written once.
create table webhook_events (
  number          integer primary key autoincrement,  -- rises with the commits
  event_id        blob not null unique,
  tenant          text not null,
  source          text not null,
  hook            text not null,
  delivery_id     text not null,
  event           text not null,
  action          text not null,
  repository_id   text not null,                      -- '': it has none, here and below
  repository      text not null,
  entity_type     text not null,
  entity_id       text not null,
  entity_previous text not null,
  sender_id       text not null,
  sender          text not null,
  organization    text not null,
  installation_id text not null,
  received_ms     integer not null,
  content_type    text not null,
  signature       text not null,
  headers         text not null,                      -- a JSON object
  trace           text not null,
  bytes           integer not null,                   -- of the body
  messages        integer not null,            -- that it became
  topic_messages  text not null               -- a JSON object: of each bot without order the id of its message
) strict;
create index webhook_events_in_order on webhook_events (tenant, number);
create index webhook_events_by_delivery on webhook_events (tenant, delivery_id);
create index webhook_events_by_age on webhook_events (received_ms);

-- Bodies, byte for byte: apart, because they are large and rarely looked at.
create table webhook_payloads (
  event_id blob primary key,
  body     blob not null
) strict;

-- When a hook was heard of last; written now and then, not by each webhook.
create table webhook_hooks (
  source       text not null,
  hook         text not null,
  delivered_ms integer not null,    -- 0: never, here and below
  pinged_ms    integer not null,
  primary key (source, hook)
) strict, without rowid;
create table webhook_refusals (
  source text not null primary key,
  count  integer not null           -- of signatures that were refused
) strict, without rowid;

-- Messages of topics, with the event that they are of: it stays for as long as there is one.
create table webhook_references (
  event_id   blob not null,
  message_id blob not null,
  primary key (event_id, message_id)
) strict, without rowid;

-- An event stays for as long as a message refers to it.
create index queue_messages_by_event on queue_messages (event_id) where event_id is not null;
