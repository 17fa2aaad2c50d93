-- oldest program: 0.1.0
-- Ordered queues. See src/queues/README.md for the invariants.

-- One row per queue, never deleted. `floor_*`: sessions that were tidied away had no more than that; one that comes back
-- starts above.
create table tenure.queues (
  queue_id           bigint generated always as identity primary key,
  tenant             text collate "C" not null,
  name               text collate "C" not null,
  state              smallint not null,  -- 0 active, 1 draining, 2 dropped
  generation         bigint not null,    -- what enters now enters this one
  oldest             bigint not null,    -- no generation below has anything to hand out
  key_rule           text not null,      -- what makes the keys of this generation
  paused_ms          bigint not null,    -- since when; 0: it is not
  paused_reason      text not null,
  floor_fence        bigint not null,
  floor_sequence     bigint not null,
  scope              smallint not null,  -- 0 none (a topic), 1 entity, 2 repository, 3 custom
  max_sessions       bigint not null,    -- held at once; 0: no limit, here and below
  session_timeout_ms bigint not null,
  idle_timeout_ms    bigint not null,
  max_duration_ms    bigint not null,
  max_messages       bigint not null,
  max_delivery_count bigint not null,
  backoff_ms         bigint not null,
  backoff_max_ms     bigint not null,
  on_dead_letter     smallint not null,  -- 0 park, 1 skip, 2 stop
  ttl_ms             bigint not null,
  depth_threshold    bigint not null,
  max_bytes          bigint not null,
  dedup_ms           bigint not null,
  history_ms         bigint not null,
  unique (tenant, name)
);

-- What accepts of a queue with a cap, or with an older generation, take before they count.
create table tenure.queue_gates (
  queue_id bigint primary key
);

-- One row per session that was ever used; its id is made of queue, generation and key, so whoever has the key locks the
-- row before it looks. Everything that happens to a session happens under this row's lock.
-- `due_ms` is a time before or at which nothing is missed: a report restarts the lease and does not touch it, so that it
-- changes no index (docs/decisions/0014).
create table tenure.queue_sessions (
  session_id        uuid primary key,
  queue_id          bigint not null,
  generation        bigint not null,
  key               text collate "C" not null,
  name              text not null,      -- printed
  entity            text not null,
  share             text collate "C" not null,  -- of the turns
  next              bigint not null,    -- sequence of the next message; 0: made by a transaction that is under way
  head              bigint not null,    -- of the first that is not done
  fence             bigint not null,
  state             smallint not null,  -- 0 idle, 1 ready, 2 held, 3 parked
  consumer          text collate "C" not null,
  lease_until_ms    bigint not null,
  lease_ms          bigint not null,    -- of the last hold
  turn_ms           bigint not null,
  turn_count        bigint not null,
  handed            bigint not null,    -- the highest sequence given under this fence
  attempts          bigint not null,    -- of the head
  position          bigint not null,    -- in line; 0: not there
  due_ms            bigint not null,    -- 0: never
  not_before_ms     bigint not null,
  reserved_for      text collate "C" not null,
  reserved_until_ms bigint not null,
  parked_ms         bigint not null,
  reason            smallint not null,
  error             text not null,
  error_class       text not null,
  accept_id         uuid,
  ended             smallint not null,  -- how the last hold ended
  ttl_free          bigint not null,    -- messages below this never expire
  created_ms        bigint not null,
  activity_ms       bigint not null
) with (fillfactor = 70);
create index queue_sessions_in_line on tenure.queue_sessions (queue_id, generation, position) where position > 0;
create index queue_sessions_by_share on tenure.queue_sessions (queue_id, generation, share, position) where position > 0;
create index queue_sessions_due on tenure.queue_sessions (queue_id, due_ms) where due_ms > 0;
create index queue_sessions_reserved on tenure.queue_sessions (queue_id, reserved_for) where reserved_for <> '';
create index queue_sessions_accepted on tenure.queue_sessions (accept_id) where accept_id is not null;
create index queue_sessions_parked on tenure.queue_sessions (queue_id, parked_ms, session_id) where state = 3;
create index queue_sessions_by_key on tenure.queue_sessions (queue_id, key);

-- What a consumer keeps with a session.
create table tenure.queue_session_states (
  session_id uuid primary key,
  state      bytea not null,
  fence      bigint not null,
  written_ms bigint not null
);

-- Written once and removed in bulk: what lies below its session's head is history.
create table tenure.queue_messages (
  session_id     uuid not null,
  sequence       bigint not null,
  id             uuid not null,
  event_id       uuid,             -- null: the payload is here
  payload_kind   smallint not null,  -- 0 JSON, 1 bytes
  payload        bytea,
  bytes          bigint not null,  -- of the payload, wherever it is
  correlation_id text not null,
  headers        text not null,    -- a JSON object, or ''
  trace          text not null,
  enqueued_ms    bigint not null,
  expires_ms     bigint not null,  -- 0: never
  replay_of      uuid,
  copy           text not null,
  primary key (session_id, sequence)
);

-- Messages that were passed over; they stay in queue_messages for as long as they are here.
create table tenure.queue_dead (
  session_id  uuid not null,
  sequence    bigint not null,
  queue_id    bigint not null,
  id          uuid not null,
  reason      smallint not null,
  attempts    bigint not null,
  error       text not null,
  error_class text not null,
  dead_ms     bigint not null,
  replayed_ms bigint not null,     -- 0: it was not
  primary key (session_id, sequence)
);
create index queue_dead_by_time on tenure.queue_dead (queue_id, dead_ms, session_id, sequence);

-- Sums of a generation, in 16 rows so that transactions do not wait for each other. Each transaction changes one row of
-- a generation, as its last lock.
create table tenure.queue_counters (
  queue_id   bigint not null,
  generation bigint not null,
  lane       smallint not null,
  messages   bigint not null,
  bytes      bigint not null,
  ready      bigint not null,      -- sessions with messages that nobody holds, parked ones apart
  held       bigint not null,
  parked     bigint not null,
  primary key (queue_id, generation, lane)
) with (fillfactor = 50);

-- dedup_key of `send`.
create table tenure.queue_keys (
  queue_id   bigint not null,
  dedup_key  text collate "C" not null,
  id         uuid not null,
  session_id uuid not null,
  sequence   bigint not null,
  expires_ms bigint not null,
  primary key (queue_id, dedup_key)
);
create index queue_keys_by_time on tenure.queue_keys (expires_ms);

-- What users' transactions sent (tenure.queue_send). Its number is given at COMMIT; in that order it enters its session.
create table tenure.queue_staged (
  id             uuid primary key,
  number         bigint,           -- null: the transaction is under way
  tenant         text collate "C" not null,
  queue          text collate "C" not null,
  key            text collate "C" not null,
  share          text collate "C" not null,
  payload_kind   smallint not null,
  payload        bytea not null,
  correlation_id text not null,
  headers        text not null,
  trace          text not null,
  dedup_key      text collate "C" not null,
  staged_ms      bigint not null,
  ttl_ms         bigint not null   -- 0: the queue's
);
create index queue_staged_in_order on tenure.queue_staged (number);
create index queue_staged_by_key on tenure.queue_staged (tenant, queue, key, number);
create sequence tenure.queue_staged_numbers;

-- What users' transactions completed (tenure.queue_complete): whoever locks the session next completes by it, if the
-- fences are equal. Marks stay: a COMMIT that is repeated after a lost answer is refused by them.
create table tenure.queue_marks (
  session_id uuid primary key,
  fence      bigint not null,
  sequence   bigint not null,
  state      bytea,
  marked_ms  bigint not null
);
