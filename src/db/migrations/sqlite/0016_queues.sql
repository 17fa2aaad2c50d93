-- oldest program: 0.1.0
-- Ordered queues. See src/queues/README.md for the invariants. Ids are blobs of 16 bytes.

-- One row per queue, never deleted. `floor_*`: sessions that were tidied away had no more than that; one that comes back
-- starts above.
create table queues (
  queue_id           integer primary key autoincrement,
  tenant             text not null,
  name               text not null,
  state              integer not null,  -- 0 active, 1 draining, 2 dropped
  generation         integer not null,    -- what enters now enters this one
  oldest             integer not null,    -- no generation below has anything to hand out
  key_rule           text not null,      -- what makes the keys of this generation
  paused_ms          integer not null,    -- since when; 0: it is not
  paused_reason      text not null,
  floor_fence        integer not null,
  floor_sequence     integer not null,
  scope              integer not null,  -- 0 none (a topic), 1 entity, 2 repository, 3 custom
  max_sessions       integer not null,    -- held at once; 0: no limit, here and below
  session_timeout_ms integer not null,
  idle_timeout_ms    integer not null,
  max_duration_ms    integer not null,
  max_messages       integer not null,
  max_delivery_count integer not null,
  backoff_ms         integer not null,
  backoff_max_ms     integer not null,
  on_dead_letter     integer not null,  -- 0 park, 1 skip, 2 stop
  ttl_ms             integer not null,
  depth_threshold    integer not null,
  max_bytes          integer not null,
  dedup_ms           integer not null,
  history_ms         integer not null,
  unique (tenant, name)
) strict;

-- One row per session that was ever used; its id is made of queue, generation and key, so whoever has the key knows the
-- row before it looks.
-- `due_ms` is a time before or at which nothing is missed: a report restarts the lease and does not touch it, so that it
-- changes no index (docs/decisions/0014).
create table queue_sessions (
  session_id        blob primary key,
  queue_id          integer not null,
  generation        integer not null,
  key               text not null,
  name              text not null,      -- printed
  entity            text not null,
  share             text not null,  -- of the turns
  next              integer not null,    -- sequence of the next message; 0: made by a transaction that is under way
  head              integer not null,    -- of the first that is not done
  fence             integer not null,
  state             integer not null,  -- 0 idle, 1 ready, 2 held, 3 parked
  consumer          text not null,
  lease_until_ms    integer not null,
  lease_ms          integer not null,    -- of the last hold
  turn_ms           integer not null,
  turn_count        integer not null,
  handed            integer not null,    -- the highest sequence given under this fence
  attempts          integer not null,    -- of the head
  position          integer not null,    -- in line; 0: not there
  due_ms            integer not null,    -- 0: never
  not_before_ms     integer not null,
  reserved_for      text not null,
  reserved_until_ms integer not null,
  parked_ms         integer not null,
  reason            integer not null,
  error             text not null,
  error_class       text not null,
  accept_id         blob,
  ended             integer not null,  -- how the last hold ended
  ttl_free          integer not null,    -- messages below this never expire
  created_ms        integer not null,
  activity_ms       integer not null
) strict;
create index queue_sessions_in_line on queue_sessions (queue_id, generation, position) where position > 0;
create index queue_sessions_by_share on queue_sessions (queue_id, generation, share, position) where position > 0;
create index queue_sessions_due on queue_sessions (queue_id, due_ms) where due_ms > 0;
create index queue_sessions_reserved on queue_sessions (queue_id, reserved_for) where reserved_for <> '';
create index queue_sessions_accepted on queue_sessions (accept_id) where accept_id is not null;
create index queue_sessions_parked on queue_sessions (queue_id, parked_ms, session_id) where state = 3;
create index queue_sessions_by_key on queue_sessions (queue_id, key, generation);
create index queue_sessions_by_name on queue_sessions (queue_id, name) where name <> key;

-- What a consumer keeps with a session.
create table queue_session_states (
  session_id blob primary key,
  state      blob not null,
  fence      integer not null,
  written_ms integer not null
) strict;

-- Written once and removed in bulk: what lies below its session's head is history.
create table queue_messages (
  session_id     blob not null,
  sequence       integer not null,
  id             blob not null,
  event_id       blob,             -- null: the payload is here
  payload_kind   integer not null,  -- 0 JSON, 1 bytes
  payload        blob,
  bytes          integer not null,  -- of the payload, wherever it is
  correlation_id text not null,
  headers        text not null,    -- a JSON object, or ''
  trace          text not null,
  enqueued_ms    integer not null,
  expires_ms     integer not null,  -- 0: never
  replay_of      blob,
  copy           text not null,
  primary key (session_id, sequence)
) strict;

-- Messages that were passed over; they stay in queue_messages for as long as they are here.
create table queue_dead (
  session_id  blob not null,
  sequence    integer not null,
  queue_id    integer not null,
  id          blob not null,
  reason      integer not null,
  attempts    integer not null,
  error       text not null,
  error_class text not null,
  dead_ms     integer not null,
  replayed_ms integer not null,     -- 0: it was not
  primary key (session_id, sequence)
) strict;
create index queue_dead_by_time on queue_dead (queue_id, dead_ms, session_id, sequence);
create index queue_dead_replayed on queue_dead (replayed_ms) where replayed_ms > 0;

-- Sums of a generation; `lane` is 0: there is one writer.
create table queue_counters (
  queue_id   integer not null,
  generation integer not null,
  lane       integer not null,
  messages   integer not null,
  bytes      integer not null,
  ready      integer not null,      -- sessions with messages that nobody holds, parked ones apart
  held       integer not null,
  parked     integer not null,
  primary key (queue_id, generation, lane)
) strict;

-- dedup_key of `send`.
create table queue_keys (
  queue_id   integer not null,
  dedup_key  text not null,
  id         blob not null,
  session_id blob not null,
  sequence   integer not null,
  expires_ms integer not null,
  primary key (queue_id, dedup_key)
) strict;
create index queue_keys_by_time on queue_keys (expires_ms);
