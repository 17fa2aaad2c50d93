-- oldest program: 0.1.0
-- earlier checksum: 3ce23ec33fe8bef0
-- Messages: work that somebody must do once. See src/messages/README.md for the invariants. Ids are blobs of
-- 16 bytes.

-- One row per topic that was ever used. Never deleted: processes remember numbers and lines.
create table topics (
  topic_id       integer primary key autoincrement,
  tenant         text not null,
  name           text not null,
  lines          integer not null,              -- bit n: line n may be used; bits are only ever added
  max_attempts   integer not null default -1,   -- -1, here and below: the default; 0: without limit
  max_crashes    integer not null default -1,
  lease_ms       integer not null default -1,
  retention_ms   integer not null default -1,   -- of finished messages
  backoff_ms     integer not null default -1,   -- before the second attempt
  backoff_max_ms integer not null default -1,
  dedup_ms       integer not null default -1,
  paused_ms      integer not null default 0,    -- since when; 0: it is not
  paused_reason  text not null default '',
  asked_ms       integer not null default 0,    -- when somebody last asked for its messages, to the minute; 0: never
  unique (tenant, name)
) strict;

-- What is to be done: ready, claimed, or waiting for its time. `seq` rises with every row that is made, so it orders
-- what became ready at one instant.
create table messages (
  seq            integer primary key,
  id             blob not null unique,
  topic_id       integer not null,
  line           integer not null,   -- 2 x priority, and 1 more once it is suspected of killing its workers
  pos            integer not null,   -- when it became ready: this store's clock never goes back; 0: waits for due_ms
  due_ms         integer not null,
  enqueued_ms    integer not null,
  fence          integer not null,   -- of the latest claim; 0: there was none
  lease_until_ms integer not null,   -- 0: not claimed
  worker         integer not null,   -- who claimed it last
  claimed_ms     integer not null,
  attempts       integer not null,   -- failures that were reported
  crashes        integer not null,   -- claims that ended without a word
  payload_kind   integer not null,   -- 0 JSON, 1 bytes
  payload        blob not null,
  correlation_id text not null,
  headers        text not null,      -- a JSON object, or ''
  trace          text not null,      -- W3C traceparent, or ''
  error          text not null       -- of the latest failure
) strict;
create index messages_ready on messages (topic_id, line, pos) where pos > 0 and lease_until_ms = 0;
create index messages_due on messages (due_ms) where pos = 0;

-- One row per claim, for whoever must look after it: when to look next, and what was handed out.
create table message_claims (
  tenant     text not null,
  claim      blob not null,
  worker     integer not null,
  claimed_ms integer not null,
  look_ms    integer not null,
  started    integer not null,  -- so many of the messages, from the first, were begun
  messages   blob not null,     -- 24 bytes each: id, fence (big endian)
  primary key (tenant, claim)
) strict;
create index message_claims_by_look on message_claims (look_ms);
create index message_claims_by_worker on message_claims (worker);

-- Workers with a heartbeat: each holds what it claimed until expires_ms, and its row here says so for all of it.
create table message_workers (
  worker     integer primary key,
  tenant     text not null,
  owner      text not null,
  expires_ms integer not null
) strict;

-- Who claims without one, and holds each message until its lease_until_ms: names, for people.
create table message_owners (
  worker  integer primary key,
  tenant  text not null,
  owner   text not null,
  seen_ms integer not null
) strict;

create table dead_letters (
  id             blob not null primary key,
  tenant         text not null,
  topic_id       integer not null,
  priority       integer not null,
  reason         integer not null,  -- 1 failed, 2 attempts spent, 3 crashes spent
  died_ms        integer not null,
  redriven_ms    integer not null,  -- 0: it was not
  enqueued_ms    integer not null,
  fence          integer not null,
  attempts       integer not null,
  crashes        integer not null,
  payload_kind   integer not null,
  payload        blob not null,
  correlation_id text not null,
  headers        text not null,
  trace          text not null,
  error          text not null
) strict;
create index dead_letters_by_topic on dead_letters (topic_id, id) where redriven_ms = 0;
create index dead_letters_by_tenant on dead_letters (tenant, id) where redriven_ms = 0;
create index dead_letters_redriven on dead_letters (redriven_ms) where redriven_ms > 0;

-- Of topics that keep what is finished.
create table finished_messages (
  id             blob not null primary key,
  topic_id       integer not null,
  finished_ms    integer not null,
  forget_ms      integer not null,
  enqueued_ms    integer not null,
  fence          integer not null,
  attempts       integer not null,
  crashes        integer not null,
  correlation_id text not null,
  output         text not null     -- JSON, or ''
) strict;
create index finished_messages_by_age on finished_messages (forget_ms);

create table message_keys (
  topic_id   integer not null,
  dedup_key  text not null,
  id         blob not null,
  expires_ms integer not null,
  primary key (topic_id, dedup_key)
) strict, without rowid;
create index message_keys_by_age on message_keys (expires_ms);
