-- The rows of a webhook for three bots with sessions. Variables: issues.
create table deliveries (
  source text not null, hook text not null, delivery_id text not null, event_id bigint not null, at timestamptz not null default now(),
  primary key (source, hook, delivery_id)
);
create table events (
  id bigserial primary key, source text not null, hook text not null, delivery_id text not null, event text not null,
  action text not null, repository_id text not null, repository text not null, entity_type text not null, entity_id text not null,
  sender text not null, headers text not null, signature text not null, received_at timestamptz not null default now()
);
create index events_by_delivery on events (delivery_id);
create index events_by_age on events (received_at);
create table payloads (event_id bigint primary key, body bytea not null);
create table sessions (
  bot int not null, key text not null, next bigint not null, head bigint not null default 1, state smallint not null default 1,
  active_at timestamptz not null default now(), primary key (bot, key)
);
create index sessions_ready on sessions (bot, active_at) where state = 1;
create table messages (
  bot int not null, key text not null, sequence bigint not null, id uuid not null default gen_random_uuid(), event_id bigint not null,
  enqueued_at timestamptz not null default now(), primary key (bot, key, sequence)
);
create table bodies (issue int primary key, body bytea not null);
