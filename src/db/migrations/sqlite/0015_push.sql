-- oldest program: 0.1.0
-- Push. See src/push/README.md for the invariants. Ids are blobs of 16 bytes.
-- One row per subscription. Secrets and the values of headers are sealed (src/push/vault.hpp).
create table subscriptions (
  tenant        text not null,
  name          text not null,
  id            blob not null,     -- of this one: another that gets the name has another id
  topic         text not null,
  url           text not null,
  max_in_flight integer not null,
  timeout_ms    integer not null,
  format        integer not null,  -- 0 binary, 1 structured
  enabled       integer not null,  -- as whoever put it says
  gone_ms       integer not null,  -- since when the endpoint is gone (410); 0: it is not
  header_names  text not null,     -- a JSON array
  secrets       text not null,     -- sealed: a line for each, the newest first
  headers       text not null,     -- sealed; '': none
  revision      integer not null,  -- rises with each change
  created_ms    integer not null,
  updated_ms    integer not null,
  failures      integer not null,  -- of the endpoint, in a row
  next_ms       integer not null,  -- nothing is sent before
  last_status   integer not null,  -- 0: there was no answer, or nothing was sent yet
  last_error    text not null,
  last_ms       integer not null,  -- when the last request ended
  delivered     integer not null,
  failed        integer not null,
  primary key (tenant, name)
) strict;

-- Which topics have a subscription: one each.
create table subscription_topics (
  tenant text not null,
  topic  text not null,
  name   text not null,
  primary key (tenant, topic)
) strict, without rowid;
