-- oldest program: 0.1.0
-- earlier checksum: 1aa817c0caf58127
-- Messages: work that somebody must do once. See src/messages/README.md for the invariants and
-- docs/decisions/0009-message-table.md for the layout.

-- One row per topic that was ever used. Never deleted: processes remember numbers and lines.
create table tenure.topics (
  topic_id       integer generated always as identity primary key,
  tenant         text collate "C" not null,
  name           text collate "C" not null,
  lines          integer not null,             -- bit n: line n may be used; bits are only ever added
  max_attempts   bigint not null default -1,   -- -1, here and below: the default; 0: without limit
  max_crashes    bigint not null default -1,
  lease_ms       bigint not null default -1,
  retention_ms   bigint not null default -1,   -- of finished messages
  backoff_ms     bigint not null default -1,   -- before the second attempt
  backoff_max_ms bigint not null default -1,
  dedup_ms       bigint not null default -1,
  paused_ms      bigint not null default 0,    -- since when; 0: it is not
  paused_reason  text not null default '',
  asked_ms       bigint not null default 0,    -- when somebody last asked for its messages, to the minute; 0: never
  unique (tenant, name)
);

-- The order in which messages became ready.
create sequence tenure.message_positions;

-- What is to be done: ready, claimed, or waiting for its time. A claim changes none of the indexed columns and only
-- columns of fixed width, so it is a HOT update; a finished message is deleted.
create table tenure.messages (
  id             uuid not null,
  topic_id       integer not null,
  line           smallint not null,   -- 2 x priority, and 1 more once it is suspected of killing its workers
  pos            bigint not null,     -- its place in the line, given when it became ready; 0: waits for due_ms
  due_ms         bigint not null,
  enqueued_ms    bigint not null,
  fence          bigint not null,     -- of the latest claim; 0: there was none
  lease_until_ms bigint not null,     -- 0: not claimed
  worker         bigint not null,     -- who claimed it last
  claimed_ms     bigint not null,
  attempts       integer not null,    -- failures that were reported
  crashes        integer not null,    -- claims that ended without a word
  payload_kind   smallint not null,   -- 0 JSON, 1 bytes
  payload        bytea not null,
  correlation_id text not null,
  headers        text not null,       -- a JSON object, or ''
  trace          text not null,       -- W3C traceparent, or ''
  error          text not null        -- of the latest failure
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000,
        autovacuum_vacuum_cost_delay = 0);
alter table tenure.messages add primary key (id);
create index messages_ready on tenure.messages (topic_id, line, pos) where pos > 0;
create index messages_due on tenure.messages (due_ms) where pos = 0;

-- One row per claim, for whoever must look after it: when to look next, and what was handed out.
create table tenure.message_claims (
  tenant     text collate "C" not null,
  claim      uuid not null,
  worker     bigint not null,
  claimed_ms bigint not null,
  look_ms    bigint not null,
  started    integer not null,  -- so many of the messages, from the first, were begun
  messages   bytea not null,    -- 24 bytes each: id, fence (big endian)
  primary key (tenant, claim)
);
alter table tenure.message_claims alter column messages set storage external;
create index message_claims_by_look on tenure.message_claims (look_ms);
create index message_claims_by_worker on tenure.message_claims (worker);

-- Workers with a heartbeat: each holds what it claimed until expires_ms, and its row here says so for all of it.
create table tenure.message_workers (
  worker     bigint primary key,
  tenant     text collate "C" not null,
  owner      text not null,
  expires_ms bigint not null
) with (fillfactor = 50);

-- Who claims without one, and holds each message until its lease_until_ms: names, for people.
create table tenure.message_owners (
  worker  bigint primary key,
  tenant  text collate "C" not null,
  owner   text not null,
  seen_ms bigint not null
);

create table tenure.dead_letters (
  id             uuid primary key,
  tenant         text collate "C" not null,
  topic_id       integer not null,
  priority       smallint not null,
  reason         smallint not null,  -- 1 failed, 2 attempts spent, 3 crashes spent
  died_ms        bigint not null,
  redriven_ms    bigint not null,    -- 0: it was not
  enqueued_ms    bigint not null,
  fence          bigint not null,
  attempts       integer not null,
  crashes        integer not null,
  payload_kind   smallint not null,
  payload        bytea not null,
  correlation_id text not null,
  headers        text not null,
  trace          text not null,
  error          text not null
);
create index dead_letters_by_topic on tenure.dead_letters (topic_id, id) where redriven_ms = 0;
create index dead_letters_by_tenant on tenure.dead_letters (tenant, id) where redriven_ms = 0;
create index dead_letters_redriven on tenure.dead_letters (redriven_ms) where redriven_ms > 0;

-- Of topics that keep what is finished.
create table tenure.finished_messages (
  id             uuid primary key,
  topic_id       integer not null,
  finished_ms    bigint not null,
  forget_ms      bigint not null,
  enqueued_ms    bigint not null,
  fence          bigint not null,
  attempts       integer not null,
  crashes        integer not null,
  correlation_id text not null,
  output         text not null     -- JSON, or ''
);
create index finished_messages_by_age on tenure.finished_messages (forget_ms);

create table tenure.message_keys (
  topic_id   integer not null,
  dedup_key  text collate "C" not null,
  id         uuid not null,
  expires_ms bigint not null,
  primary key (topic_id, dedup_key)
);
create index message_keys_by_age on tenure.message_keys (expires_ms);

-- Which process wants to be told of messages of which topic; topic '' is for the one who promotes timers.
create table tenure.message_waiters (
  tenant   text collate "C" not null,
  topic    text collate "C" not null,
  process  text collate "C" not null,
  until_ms bigint not null,
  primary key (tenant, topic, process)
) with (fillfactor = 50);

create function tenure.now_ms() returns bigint language sql volatile set search_path = pg_catalog, pg_temp as $body$
  select floor(extract(epoch from clock_timestamp()) * 1000)::bigint
$body$;

-- A version 7 id: 48 bits of milliseconds, the rest random.
create function tenure.new_id(ms bigint) returns uuid language sql volatile set search_path = pg_catalog, pg_temp as $body$
  select encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid()) placing substring(int8send(ms) from 3) from 1 for 6),
                                52, 1), 53, 1), 'hex')::uuid
$body$;

-- What tenure.enqueue and tenure.enqueue_bytes have in common. All of it is the caller's transaction (M1): the row of a
-- new topic, or of a topic's first message of a priority, stays locked until it ends, so others who need that very row
-- wait for it, or give up.
create function tenure.put_message(tenant text, topic text, payload bytea, payload_kind integer, due_at timestamptz,
                                   priority integer, correlation_id text, headers jsonb, dedup_key text) returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $body$
#variable_conflict use_column
declare
  now_ms  constant bigint := tenure.now_ms();
  due_ms  constant bigint := coalesce(floor(extract(epoch from put_message.due_at) * 1000)::bigint, now_ms);
  line    constant integer := put_message.priority * 2;
  most    bigint;
  t       record;
  new_id  uuid := tenure.new_id(now_ms);
  earlier uuid;
begin
  if put_message.topic is null or octet_length(put_message.topic) not between 1 and 255 then
    raise exception 'a topic has 1 to 255 bytes' using errcode = '22023';
  end if;
  if put_message.payload is null then
    raise exception 'a message has a payload' using errcode = '22004', hint = 'For JSON''s null pass ''null''::jsonb.';
  end if;
  if put_message.priority is null or put_message.priority not between 0 and 9 then
    raise exception 'a priority is 0 (first) to 9' using errcode = '22023';
  end if;
  if octet_length(put_message.correlation_id) > 255 or octet_length(put_message.dedup_key) > 255 then
    raise exception 'correlation_id and dedup_key have at most 255 bytes' using errcode = '22023';
  end if;
  if put_message.headers is not null and jsonb_typeof(put_message.headers) <> 'object' then
    raise exception 'headers are a JSON object' using errcode = '22023';
  end if;
  -- Written as settings are: 1MiB, 64KiB, 1000B.
  select pg_size_bytes(regexp_replace(replace(s.value, 'iB', 'B'), '([0-9])B$', '\1')) into most
    from tenure.settings s where s.name = 'messages.payload_max';
  most := coalesce(most, 1048576);
  if octet_length(put_message.payload) > most or octet_length(put_message.headers::text) > 16384 then
    raise exception 'a payload has at most % bytes and headers at most 16384', most
      using errcode = '54000', hint = 'Keep large things elsewhere and send where they are.';
  end if;

  select topic_id, lines, dedup_ms into t from tenure.topics
   where tenant = put_message.tenant and name = put_message.topic;
  if not found or t.lines & (3 << line) <> 3 << line then
    insert into tenure.topics as known (tenant, name, lines)
    values (put_message.tenant, put_message.topic, 3 << line)
    on conflict (tenant, name) do update set lines = known.lines | excluded.lines;
    -- Of two who made it the loser sees the winner's row only in a new statement.
    select topic_id, lines, dedup_ms into t from tenure.topics
     where tenant = put_message.tenant and name = put_message.topic;
  end if;

  if put_message.dedup_key is not null then
    -- The expressions of DO UPDATE are computed under the row's lock (docs/ground.md, Time).
    insert into tenure.message_keys as known (topic_id, dedup_key, id, expires_ms)
    values (t.topic_id, put_message.dedup_key, new_id,
            now_ms + case t.dedup_ms when -1 then 600000 else t.dedup_ms end)
    on conflict (topic_id, dedup_key) do update set id = excluded.id, expires_ms = excluded.expires_ms
      where known.expires_ms <= tenure.now_ms();
    if not found then
      select id into earlier from tenure.message_keys
       where topic_id = t.topic_id and dedup_key = put_message.dedup_key;
      return earlier;
    end if;
  end if;

  insert into tenure.messages (id, topic_id, line, pos, due_ms, enqueued_ms, fence, lease_until_ms, worker, claimed_ms,
                               attempts, crashes, payload_kind, payload, correlation_id, headers, trace, error)
  values (new_id, t.topic_id, line,
          case when due_ms <= now_ms then nextval('tenure.message_positions') else 0 end,
          due_ms, now_ms, 0, 0, 0, 0, 0, 0, put_message.payload_kind, put_message.payload,
          coalesce(put_message.correlation_id, ''), coalesce(put_message.headers::text, ''),
          left(coalesce(put_message.headers ->> 'traceparent', ''), 55), '');
  -- Whoever waits is told, and nobody else: NOTIFY takes a lock of the whole cluster at commit (docs/ground.md). This
  -- statement comes after the insert. A timer that is far off is found by the ordinary looks.
  perform pg_notify('tenure', case when due_ms <= now_ms
                                   then 'm' || chr(10) || put_message.tenant || chr(10) || put_message.topic
                                   else 'm' || chr(10) || chr(10) end)
    from (select) as once
   where due_ms <= now_ms + 60000
     and exists (select from tenure.message_waiters w
                  where w.tenant = case when due_ms <= now_ms then put_message.tenant else '' end
                    and w.topic = case when due_ms <= now_ms then put_message.topic else '' end
                    and w.until_ms > now_ms);
  return new_id;
end
$body$;

create function tenure.enqueue(topic text, payload jsonb, due_at timestamptz default null, priority integer default 5,
                               correlation_id text default null, headers jsonb default null,
                               dedup_key text default null, tenant text default 'default') returns uuid
language sql volatile security definer set search_path = pg_catalog, pg_temp as $body$
  select tenure.put_message(tenant, topic, convert_to(payload::text, 'UTF8'), 0, due_at, priority, correlation_id,
                            headers, dedup_key)
$body$;

create function tenure.enqueue_bytes(topic text, payload bytea, due_at timestamptz default null,
                                     priority integer default 5, correlation_id text default null,
                                     headers jsonb default null, dedup_key text default null,
                                     tenant text default 'default') returns uuid
language sql volatile security definer set search_path = pg_catalog, pg_temp as $body$
  select tenure.put_message(tenant, topic, payload, 1, due_at, priority, correlation_id, headers, dedup_key)
$body$;

-- Acknowledges a message in the transaction of its effect: both happen, or neither. Raises TN001 unless `fence` is of
-- the claim that is under way, so that the effect of a former owner is rolled back (M2). The row is locked by the
-- delete; whoever would take it back meanwhile (the reaper) skips it.
create function tenure.acknowledge(id uuid, fence bigint, output jsonb default null, tenant text default 'default')
returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $body$
#variable_conflict use_column
declare
  m record;
begin
  delete from tenure.messages d using tenure.topics t
   where d.id = acknowledge.id and d.fence = acknowledge.fence and d.lease_until_ms > 0
     and t.topic_id = d.topic_id and t.tenant = acknowledge.tenant
  returning d.topic_id, d.enqueued_ms, d.attempts, d.crashes, d.correlation_id, t.retention_ms into m;
  if not found then
    raise exception 'fence % of message % is stale', acknowledge.fence, acknowledge.id
      using errcode = 'TN001', hint = 'The message was handed to somebody else, or is finished: roll back.';
  end if;
  if m.retention_ms > 0 then
    insert into tenure.finished_messages (id, topic_id, finished_ms, forget_ms, enqueued_ms, fence, attempts, crashes,
                                          correlation_id, output)
    select acknowledge.id, m.topic_id, now_ms, now_ms + m.retention_ms, m.enqueued_ms, acknowledge.fence, m.attempts,
           m.crashes, m.correlation_id, coalesce(acknowledge.output::text, '')
      from tenure.now_ms() as now_ms;
  end if;
end
$body$;

revoke execute on function tenure.put_message(text, text, bytea, integer, timestamptz, integer, text, jsonb, text) from public;
revoke execute on function tenure.enqueue(text, jsonb, timestamptz, integer, text, jsonb, text, text) from public;
revoke execute on function tenure.enqueue_bytes(text, bytea, timestamptz, integer, text, jsonb, text, text) from public;
revoke execute on function tenure.acknowledge(uuid, bigint, jsonb, text) from public;
do $body$
begin
  if exists (select from pg_roles where rolname = 'tenure_app') then
    grant execute on function tenure.enqueue(text, jsonb, timestamptz, integer, text, jsonb, text, text),
                              tenure.enqueue_bytes(text, bytea, timestamptz, integer, text, jsonb, text, text),
                              tenure.acknowledge(uuid, bigint, jsonb, text) to tenure_app;
  end if;
end
$body$;
