-- oldest program: 0.1.0
-- earlier checksum: 3bd04c7c7b20d0b3
-- Webhooks. See src/webhooks/README.md for the invariants.

-- Every file of bots that was applied; of a tenant the one with the highest revision counts. Revisions are of the whole
-- store: whoever has seen the highest one has seen all of them.
create table tenure.bot_files (
  revision   bigint primary key,
  tenant     text collate "C" not null,
  content    text not null,          -- JSON
  applied_ms bigint not null,
  person     text not null           -- who applied it; '': the configuration of a process
);
create index bot_files_by_tenant on tenure.bot_files (tenant, revision);

-- What was received, by what its source calls it: a repetition within the window is the same event.
create table tenure.webhook_deliveries (
  source      text collate "C" not null,
  hook        text collate "C" not null,
  delivery_id text collate "C" not null,
  event_id    uuid not null,          -- the nil id: of a transaction that is under way
  received_ms bigint not null,
  primary key (source, hook, delivery_id)
);
create index webhook_deliveries_by_age on tenure.webhook_deliveries (received_ms);

-- Events, as received. Written once.
create table tenure.webhook_events (
  event_id        uuid primary key,
  number          bigint generated always as identity,  -- rises with the commits that were answered
  tenant          text collate "C" not null,
  source          text collate "C" not null,
  hook            text collate "C" not null,
  delivery_id     text collate "C" not null,
  event           text collate "C" not null,
  action          text collate "C" not null,
  repository_id   text collate "C" not null,  -- '': it has none, here and below
  repository      text not null,
  entity_type     text collate "C" not null,
  entity_id       text not null,
  entity_previous text not null,
  sender_id       text not null,
  sender          text not null,
  organization    text not null,
  installation_id text not null,
  received_ms     bigint not null,
  content_type    text not null,
  signature       text not null,
  headers         text not null,              -- a JSON object
  trace           text not null,
  bytes           bigint not null,            -- of the body
  messages        bigint not null,            -- that it became
  topic_messages  text not null               -- a JSON object: of each bot without order the id of its message
);
create index webhook_events_in_order on tenure.webhook_events (tenant, number);
create index webhook_events_by_delivery on tenure.webhook_events (tenant, delivery_id);
create index webhook_events_by_age on tenure.webhook_events (received_ms);

-- Bodies, byte for byte: apart, because they are large and rarely looked at.
create table tenure.webhook_payloads (
  event_id uuid primary key,
  body     bytea not null
);
-- PostgreSQL's own compression cost a third of all that a webhook of 10 KB costs. A PostgreSQL that was built without this one
-- keeps its own.
do $body$
begin
  execute 'alter table tenure.webhook_payloads alter column body set compression lz4';
exception when feature_not_supported or syntax_error then
  null;
end
$body$;

-- When a hook was heard of last; written now and then, not by each webhook.
create table tenure.webhook_hooks (
  source       text collate "C" not null,
  hook         text collate "C" not null,
  delivered_ms bigint not null,    -- 0: never, here and below
  pinged_ms    bigint not null,
  primary key (source, hook)
);
create table tenure.webhook_refusals (
  source text collate "C" primary key,
  count  bigint not null           -- of signatures that were refused
);

-- Messages of topics, with the event that they are of: it stays for as long as there is one.
create table tenure.webhook_references (
  event_id   uuid not null,
  message_id uuid not null,
  primary key (event_id, message_id)
);

-- An event stays for as long as a message refers to it.
create index queue_messages_by_event on tenure.queue_messages (event_id) where event_id is not null;
