-- oldest program: 0.1.0
-- Push. See src/push/README.md for the invariants.
-- One row per subscription. Secrets and the values of headers are sealed (src/push/vault.hpp).
create table tenure.subscriptions (
  tenant        text collate "C" not null,
  name          text collate "C" not null,
  id            uuid not null,       -- of this one: another that gets the name has another id
  topic         text collate "C" not null,
  url           text not null,
  max_in_flight int not null,
  timeout_ms    int not null,
  format        smallint not null,   -- 0 binary, 1 structured
  enabled       smallint not null,   -- as whoever put it says
  gone_ms       bigint not null,     -- since when the endpoint is gone (410); 0: it is not
  header_names  text not null,       -- a JSON array
  secrets       text not null,       -- sealed: a line for each, the newest first
  headers       text not null,       -- sealed; '': none
  revision      bigint not null,     -- rises with each change
  created_ms    bigint not null,
  updated_ms    bigint not null,
  failures      bigint not null,     -- of the endpoint, in a row
  next_ms       bigint not null,     -- nothing is sent before
  last_status   int not null,        -- 0: there was no answer, or nothing was sent yet
  last_error    text not null,
  last_ms       bigint not null,     -- when the last request ended
  delivered     bigint not null,
  failed        bigint not null,
  primary key (tenant, name)
) with (fillfactor = 80);

-- Which topics have a subscription: one each.
create table tenure.subscription_topics (
  tenant text collate "C" not null,
  topic  text collate "C" not null,
  name   text collate "C" not null,
  primary key (tenant, topic)
);
