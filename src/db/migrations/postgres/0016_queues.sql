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
create index queue_sessions_by_key on tenure.queue_sessions (queue_id, key, generation);
create index queue_sessions_by_name on tenure.queue_sessions (queue_id, name) where name <> key;

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
create index queue_dead_replayed on tenure.queue_dead (replayed_ms) where replayed_ms > 0;

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

-- ---- users' own transactions (docs/ground.md, Strangers): they lock and make no row that others need

-- Gives a message its number at COMMIT: whoever was answered before another one sent has the lower number, also if it sent
-- first and waited for a lock. Tells whoever puts it into its session.
create function tenure.number_staged() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $body$
begin
  update tenure.queue_staged set number = nextval('tenure.queue_staged_numbers') where id = new.id;
  perform tenure.tell_waiters(new.tenant, 'queue:' || new.queue);
  return null;
end
$body$;
create constraint trigger queue_staged_number after insert on tenure.queue_staged
  deferrable initially deferred for each row execute function tenure.number_staged();
alter table tenure.queue_staged enable always trigger queue_staged_number;

-- What tenure.queue_send and tenure.queue_send_bytes have in common.
create function tenure.stage_message(tenant text, queue text, session_key text, payload bytea, payload_kind integer,
                                     correlation_id text, headers jsonb, dedup_key text, ttl interval, share text) returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $body$
declare
  now_ms constant bigint := tenure.now_ms();
  new_id constant uuid := tenure.new_id(now_ms);
  ttl_ms constant bigint := coalesce(floor(extract(epoch from stage_message.ttl) * 1000)::bigint, -1);
  its_tenant constant text := tenure.tenant_of(stage_message.tenant);
  most   bigint;
  q      record;
begin
  select t.queue_id, t.state, t.scope, t.max_bytes into q from tenure.queues t
   where t.tenant = its_tenant and t.name = stage_message.queue;
  if not found or q.state = 2 then
    raise exception 'there is no queue %', stage_message.queue using errcode = '42704';
  end if;
  if q.scope = 0 then
    if stage_message.session_key is not null then
      raise exception 'the queue % keeps no order, and takes no session_key', stage_message.queue using errcode = '22023';
    end if;
    return tenure.put_message(its_tenant, 'queue:' || stage_message.queue, stage_message.payload,
                              stage_message.payload_kind, null, 5, stage_message.correlation_id, stage_message.headers,
                              stage_message.dedup_key);
  end if;
  if q.state = 1 then
    raise exception 'the queue % takes no more messages', stage_message.queue using errcode = '55000';
  end if;
  if stage_message.session_key is null or octet_length(stage_message.session_key) not between 1 and 200
     or stage_message.session_key collate "C" ~ '[\u0001-\u001F\u007F-\u009F]' then
    raise exception 'a session_key has 1 to 200 bytes and no control characters' using errcode = '22023';
  end if;
  if octet_length(stage_message.share) > 200 or stage_message.share collate "C" ~ '[\u0001-\u001F\u007F-\u009F]' then
    raise exception 'a share has at most 200 bytes and no control characters' using errcode = '22023';
  end if;
  if stage_message.payload is null then
    raise exception 'a message has a payload' using errcode = '22004', hint = 'For JSON''s null pass ''null''::jsonb.';
  end if;
  if octet_length(stage_message.correlation_id) > 255 or octet_length(stage_message.dedup_key) > 255 then
    raise exception 'correlation_id and dedup_key have at most 255 bytes' using errcode = '22023';
  end if;
  if stage_message.headers is not null and jsonb_typeof(stage_message.headers) <> 'object' then
    raise exception 'headers are a JSON object' using errcode = '22023';
  end if;
  if ttl_ms < -1 or ttl_ms > 31622400000 then
    raise exception 'a ttl is at most 366 days' using errcode = '22023';
  end if;
  select pg_size_bytes(regexp_replace(replace(s.value, 'iB', 'B'), '([0-9])B$', '\1')) into most
    from tenure.settings s where s.name = 'messages.payload_max';
  most := coalesce(most, 1048576);
  if octet_length(stage_message.payload) > most or octet_length(stage_message.headers::text) > 16384 then
    raise exception 'a payload has at most % bytes and headers at most 16384', most
      using errcode = '54000', hint = 'Keep large things elsewhere and send where they are.';
  end if;
  if stage_message.payload_kind = 0 then
    perform tenure.check_depth(convert_from(stage_message.payload, 'UTF8'));
  end if;
  perform tenure.check_depth(stage_message.headers::text);
  if q.max_bytes > 0 and (select coalesce(sum(c.bytes), 0) from tenure.queue_counters c where c.queue_id = q.queue_id)
                         + octet_length(stage_message.payload) > q.max_bytes then
    raise exception 'the queue % is full', stage_message.queue using errcode = '53400';
  end if;
  -- An IMMEDIATE that was said before would number it now, and not at COMMIT.
  set constraints tenure.queue_staged_number deferred;
  insert into tenure.queue_staged (id, number, tenant, queue, key, share, payload_kind, payload, correlation_id, headers,
                                   trace, dedup_key, staged_ms, ttl_ms)
  values (new_id, null, its_tenant, stage_message.queue, stage_message.session_key,
          coalesce(stage_message.share, ''), stage_message.payload_kind, stage_message.payload,
          coalesce(stage_message.correlation_id, ''), coalesce(stage_message.headers::text, ''),
          left(coalesce(stage_message.headers ->> 'traceparent', ''), 55), coalesce(stage_message.dedup_key, ''), now_ms,
          ttl_ms);
  return new_id;
end
$body$;

-- A message into an ordered queue, in your own transaction: it is sent if and when that commits.
create function tenure.queue_send(queue text, session_key text, payload jsonb, correlation_id text default null,
                                  headers jsonb default null, dedup_key text default null, ttl interval default null,
                                  share text default null, tenant text default 'default') returns uuid
language plpgsql security definer set search_path = pg_catalog, pg_temp as $body$
begin
  return tenure.stage_message(queue_send.tenant, queue_send.queue, queue_send.session_key,
                              convert_to(queue_send.payload::text, 'UTF8'), 0, queue_send.correlation_id,
                              queue_send.headers, queue_send.dedup_key, queue_send.ttl, queue_send.share);
end
$body$;
create function tenure.queue_send_bytes(queue text, session_key text, payload bytea, correlation_id text default null,
                                        headers jsonb default null, dedup_key text default null, ttl interval default null,
                                        share text default null, tenant text default 'default') returns uuid
language plpgsql security definer set search_path = pg_catalog, pg_temp as $body$
begin
  return tenure.stage_message(queue_send_bytes.tenant, queue_send_bytes.queue, queue_send_bytes.session_key,
                              queue_send_bytes.payload, 1, queue_send_bytes.correlation_id, queue_send_bytes.headers,
                              queue_send_bytes.dedup_key, queue_send_bytes.ttl, queue_send_bytes.share);
end
$body$;

-- What transactions that are under way complete: compared and marked at their COMMIT.
create table tenure.queue_completions (
  id         bigint generated always as identity primary key,
  session_id uuid not null,
  tenant     text collate "C" not null,
  fence      bigint not null,
  sequence   bigint not null,
  state      bytea
);

-- At COMMIT: the session's row FOR KEY SHARE, which no server waits for but who raises its fence or moves its head; in a later
-- statement the fence is compared. Then the mark, which must rise: a COMMIT that is repeated has no second effect.
create function tenure.mark_completed() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $body$
declare
  s record;
begin
  perform from tenure.queue_sessions t where t.session_id = new.session_id for key share;
  select t.fence, t.head, t.handed into s from tenure.queue_sessions t where t.session_id = new.session_id;
  if not found or s.fence <> new.fence then
    raise exception 'another fence of session % counts', new.session_id using errcode = 'TN001';
  end if;
  if new.sequence > s.handed then
    raise exception 'message % of session % was not handed out', new.sequence, new.session_id using errcode = '22023';
  end if;
  if new.sequence >= s.head then
    insert into tenure.queue_marks as m (session_id, fence, sequence, state, marked_ms)
    values (new.session_id, new.fence, new.sequence, new.state, tenure.now_ms())
    on conflict (session_id) do update
       set fence = excluded.fence, sequence = excluded.sequence, state = excluded.state, marked_ms = excluded.marked_ms
     where m.fence < excluded.fence or (m.fence = excluded.fence and m.sequence < excluded.sequence);
  end if;
  if new.sequence < s.head or not found then
    raise exception 'message % of session % was completed before', new.sequence, new.session_id using errcode = 'TN001';
  end if;
  delete from tenure.queue_completions c where c.id = new.id;
  perform tenure.tell_waiters(new.tenant, 'queue-session:' || new.session_id);
  return null;
end
$body$;
create constraint trigger queue_completion after insert on tenure.queue_completions
  deferrable initially deferred for each row execute function tenure.mark_completed();
alter table tenure.queue_completions enable always trigger queue_completion;

-- Completes messages up to this one in your own transaction, with the effect that they had: both or neither. The hold goes on.
create function tenure.queue_complete(session uuid, fence bigint, sequence bigint, state bytea default null,
                                      tenant text default 'default') returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $body$
declare
  its_tenant constant text := tenure.tenant_of(queue_complete.tenant);
begin
  perform from tenure.queue_sessions s join tenure.queues q on q.queue_id = s.queue_id
    where s.session_id = queue_complete.session and q.tenant = its_tenant;
  if not found then
    raise exception 'there is no session %', queue_complete.session using errcode = '42704';
  end if;
  if queue_complete.fence is null or queue_complete.sequence is null or octet_length(queue_complete.state) > 65536 then
    raise exception 'a fence and a sequence are needed, and a state has at most 65536 bytes' using errcode = '22023';
  end if;
  set constraints tenure.queue_completion deferred;
  insert into tenure.queue_completions (session_id, tenant, fence, sequence, state)
  values (queue_complete.session, its_tenant, queue_complete.fence, queue_complete.sequence,
          queue_complete.state);
end
$body$;

revoke execute on function tenure.number_staged() from public;
revoke execute on function tenure.stage_message(text, text, text, bytea, integer, text, jsonb, text, interval, text) from public;
revoke execute on function tenure.queue_send(text, text, jsonb, text, jsonb, text, interval, text, text) from public;
revoke execute on function tenure.queue_send_bytes(text, text, bytea, text, jsonb, text, interval, text, text) from public;
revoke execute on function tenure.mark_completed() from public;
revoke execute on function tenure.queue_complete(uuid, bigint, bigint, bytea, text) from public;
do $body$
begin
  if exists (select from pg_roles where rolname = 'tenure_app') then
    grant execute on function tenure.queue_send(text, text, jsonb, text, jsonb, text, interval, text, text),
                              tenure.queue_send_bytes(text, text, bytea, text, jsonb, text, interval, text, text),
                              tenure.queue_complete(uuid, bigint, bigint, bytea, text) to tenure_app;
  end if;
end
$body$;
