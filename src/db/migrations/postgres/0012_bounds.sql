-- oldest program: 0.1.0
-- What users' transactions and other hands write is bounded as what comes by HTTP is, a tenant has one spelling, and
-- topics that nobody uses go.

-- Not validated: an odd row of the past stops no migration, and no process (src/messages/sql/postgres/sort_messages.sql).
alter table tenure.unsorted_messages
  add constraint unsorted_messages_due_ms check (due_ms between 0 and 253402300799999) not valid;

-- A topic that nobody uses is closed (lines = 0), and deleted later, when nobody can have seen it open any more
-- (src/messages/topics/unused_topics.hpp).
alter table tenure.topics
  add column idle_ms    bigint not null default 0,  -- when it was first seen to be empty; 0: not since it was opened
  add column closed_ms  bigint not null default 0,  -- when it was closed; 0: it is open
  add column closed_xid xid8;                       -- who is older may have seen it open; null: not noted yet
create index topics_closed on tenure.topics (closed_ms) where closed_ms > 0;

-- A tenant as it is on record: 1 to 200 bytes, no control characters, a UUID in lower case and not the nil one, which
-- stands for nobody. Raises 22023 for what is none.
create function tenure.tenant_of(tenant text) returns text
language plpgsql immutable set search_path = pg_catalog, pg_temp as $body$
begin
  if tenant_of.tenant is null or octet_length(tenant_of.tenant) not between 1 and 200
     or tenant_of.tenant collate "C" ~ '[\u0001-\u001F\u007F-\u009F]' then
    raise exception 'a tenant has 1 to 200 bytes and no control characters' using errcode = '22023';
  end if;
  if tenant_of.tenant collate "C" !~ '^[0-9A-Fa-f]{8}-([0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}$' then
    return tenant_of.tenant;
  end if;
  if tenant_of.tenant = '00000000-0000-0000-0000-000000000000' then
    raise exception 'the nil UUID is nobody''s tenant' using errcode = '22023';
  end if;
  return lower(tenant_of.tenant collate "C");
end
$body$;

-- Refuses JSON that is nested deeper than what comes by HTTP may be. `json` is what PostgreSQL printed; null is not
-- deep. Few brackets cannot be deep; otherwise what has no bracket inside is taken away, layer by layer.
create or replace function tenure.check_depth(json text) returns void
language plpgsql immutable set search_path = pg_catalog, pg_temp as $body$
declare
  most constant integer := 31;  -- and one more for what it comes in
  rest text := json;
begin
  if rest is null or length(rest) - length(translate(rest, '[{', '')) <= most then
    return;
  end if;
  rest := translate(regexp_replace(rest, '"([^"\\]|\\.)*"', '', 'g'), '{}', '[]');
  rest := regexp_replace(rest, '[^][]', '', 'g');
  for layer in 1 .. most loop
    rest := replace(rest, '[]', '');
    exit when rest = '';
  end loop;
  if rest <> '' then
    raise exception 'JSON is nested at most % levels deep here', most using errcode = '22023';
  end if;
end
$body$;

-- What tenure.enqueue and tenure.enqueue_bytes have in common. All of it is the caller's transaction (M1), which may
-- stay open for minutes: it makes and locks no row that others need, except that of a dedup key. A message to a topic
-- that has no row yet, or the first of a priority, is put aside; a process that serves makes that row when it meets it.
create or replace function tenure.put_message(tenant text, topic text, payload bytea, payload_kind integer, due_at timestamptz,
                                   priority integer, correlation_id text, headers jsonb, dedup_key text) returns uuid
language plpgsql set search_path = pg_catalog, pg_temp as $body$
#variable_conflict use_column
declare
  now_ms  constant bigint := tenure.now_ms();
  its_tenant constant text := tenure.tenant_of(put_message.tenant);
  due_ms  bigint;
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
  if put_message.due_at not between '1970-01-01Z' and '9999-12-31Z' then
    raise exception 'due_at lies between the years 1970 and 9999' using errcode = '22008';
  end if;
  due_ms := coalesce(floor(extract(epoch from put_message.due_at) * 1000)::bigint, now_ms);
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

  if put_message.payload_kind = 0 then
    perform tenure.check_depth(convert_from(put_message.payload, 'UTF8'));
  end if;
  perform tenure.check_depth(put_message.headers::text);

  -- Before the topic is read: from here on this transaction counts as one that may have seen it open, until it ends
  -- (src/messages/sql/postgres/delete_topics.sql). It is about to write anyway.
  perform pg_current_xact_id();
  select topic_id, lines, dedup_ms into t from tenure.topics
   where tenant = its_tenant and name = put_message.topic;
  if not found or t.lines & (3 << line) <> 3 << line then
    insert into tenure.unsorted_messages (id, tenant, topic, line, due_ms, enqueued_ms, payload_kind, payload,
                                          correlation_id, headers, trace, dedup_key)
    values (new_id, its_tenant, put_message.topic, line, due_ms, now_ms, put_message.payload_kind,
            put_message.payload, coalesce(put_message.correlation_id, ''), coalesce(put_message.headers::text, ''),
            left(coalesce(put_message.headers ->> 'traceparent', ''), 55), coalesce(put_message.dedup_key, ''));
    perform tenure.tell_waiters('', '');
    return new_id;
  end if;

  if put_message.dedup_key is not null then
    -- The expressions of DO UPDATE are computed under the row's lock (docs/ground.md, Time).
    insert into tenure.message_keys as known (topic_id, dedup_key, id, expires_ms)
    values (t.topic_id, put_message.dedup_key, new_id,
            now_ms + case t.dedup_ms when -1 then 600000 else least(t.dedup_ms, 315360000000) end)
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
  -- A timer that is far off is found by the ordinary looks.
  if due_ms <= now_ms then
    perform tenure.tell_waiters(its_tenant, put_message.topic);
  elsif due_ms <= now_ms + 60000 then
    perform tenure.tell_waiters('', '');
  end if;
  return new_id;
end
$body$;

-- Acknowledges a message in the transaction of its effect: both happen, or neither. Raises TN001 unless `fence` is of
-- the claim that is under way, so that the effect of a former owner is rolled back (M2). The row is locked by the
-- delete; whoever would take it back meanwhile (the reaper) skips it.
create or replace function tenure.acknowledge(id uuid, fence bigint, output jsonb default null, tenant text default 'default')
returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $body$
#variable_conflict use_column
declare
  its_tenant constant text := tenure.tenant_of(acknowledge.tenant);
  m record;
begin
  if octet_length(acknowledge.output::text) > 65536 then
    raise exception 'the output of message % is longer than 65536 bytes', acknowledge.id
      using errcode = '22001', hint = 'Store what is large elsewhere, and its address here.';
  end if;
  perform tenure.check_depth(acknowledge.output::text);
  delete from tenure.messages d using tenure.topics t
   where d.id = acknowledge.id and d.fence = acknowledge.fence and d.lease_until_ms > 0
     and t.topic_id = d.topic_id and t.tenant = its_tenant
  returning d.topic_id, d.enqueued_ms, d.attempts, d.crashes, d.correlation_id, t.retention_ms into m;
  if not found then
    raise exception 'fence % of message % is stale', acknowledge.fence, acknowledge.id
      using errcode = 'TN001', hint = 'The message was handed to somebody else, or is finished: roll back.';
  end if;
  if m.retention_ms > 0 then
    insert into tenure.finished_messages (id, topic_id, finished_ms, forget_ms, enqueued_ms, fence, attempts, crashes,
                                          correlation_id, output)
    select acknowledge.id, m.topic_id, now_ms, now_ms + least(m.retention_ms, 315360000000), m.enqueued_ms, acknowledge.fence, m.attempts,
           m.crashes, m.correlation_id, coalesce(acknowledge.output::text, '')
      from tenure.now_ms() as now_ms;
  end if;
end
$body$;

-- For a user's own transaction: raises TN001 unless `fence` is the one of the live grant of `name`, and holds off a
-- takeover until the transaction ends. The row lock first, the clock after it (docs/ground.md). A transaction that is
-- forgotten ends by itself: it may stand idle no longer than the grant lasts.
create or replace function tenure.check_fence(name text, fence bigint, tenant text default 'default') returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $body$
declare
  its_tenant   constant text := tenure.tenant_of(check_fence.tenant);
  deadline_ms  bigint;
  remaining_ms bigint;
  idle_ms      bigint;
begin
  select l.expires_ms into deadline_ms
    from tenure.leases l
   where l.tenant = its_tenant and l.name = check_fence.name and l.fence = check_fence.fence
     and l.term is not null
     for key share;
  remaining_ms := deadline_ms - floor(extract(epoch from clock_timestamp()) * 1000);
  if remaining_ms is null or remaining_ms <= 0 then
    raise exception 'fence % of lease "%" is stale', check_fence.fence, check_fence.name
      using errcode = 'TN001', hint = 'The lease is not held any more: stop, and acquire it again.';
  end if;
  select setting::bigint into idle_ms from pg_settings s where s.name = 'idle_in_transaction_session_timeout';
  if idle_ms = 0 or idle_ms > remaining_ms then
    perform set_config('idle_in_transaction_session_timeout', remaining_ms::text, true);
  end if;
end
$body$;

-- For a user's own transaction: marks the message as done by the claim with this fence, or raises TN002 so that the
-- effect rolls back with it. The row stays locked until the transaction ends, so nobody else is told to process the
-- message meanwhile; lanes do not wait for it (src/inbox/sql/postgres/lock_entries.sql). The row lock first, the clock
-- after it (docs/ground.md, Time).
--
-- A claim whose lease has passed still completes while nobody took the message over: the fence alone decides. A message
-- that is done already raises too, also when this very claim did it: its effect was committed with it, and a second one
-- must not be (a transaction that is repeated because the answer to its COMMIT was lost).
--
-- A transaction that is forgotten ends by itself: it may stand idle no longer than the claim lasts, and a second.
create or replace function tenure.inbox_complete(source text, message_id text, fence bigint, result jsonb default null,
                                      tenant text default 'default') returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $body$
declare
  its_tenant constant text := tenure.tenant_of(inbox_complete.tenant);
  entry   tenure.inbox%rowtype;
  now_ms  bigint;
  left_ms bigint;
  idle_ms bigint;
begin
  select i.* into entry
    from tenure.inbox i
   where i.tenant = its_tenant and i.source = inbox_complete.source
     and i.message_id = inbox_complete.message_id
     for no key update;
  now_ms := floor(extract(epoch from clock_timestamp()) * 1000);
  if not coalesce(entry.fence = inbox_complete.fence and entry.state = 1, false) then
    raise exception 'fence % of inbound message "%" from "%" is stale', inbox_complete.fence,
                    inbox_complete.message_id, inbox_complete.source
      using errcode = 'TN002',
            detail = case when entry.fence is null then 'The message is not known.'
                          when entry.state = 1 then format('Fence %s holds it.', entry.fence)
                          when entry.state = 2 then format('Fence %s failed; it will be tried again.', entry.fence)
                          when entry.state = 3 then format('Fence %s completed it.', entry.fence)
                          else format('It is dead since fence %s.', entry.fence) end,
            hint = 'Roll back: the effect belongs to another claim, or is committed already. Begin again to see which.';
  end if;
  if octet_length(inbox_complete.result::text) > 65536 then
    raise exception 'the result of inbound message "%" is longer than 65536 bytes', inbox_complete.message_id
      using errcode = '22001', hint = 'Store what is large elsewhere, and its address here.';
  end if;
  perform tenure.check_depth(inbox_complete.result::text);
  update tenure.inbox i
     set state = 3, result = inbox_complete.result::text, error = null, updated_ms = now_ms
   where i.tenant = entry.tenant and i.source = entry.source and i.message_id = entry.message_id;
  left_ms := greatest(entry.lease_until_ms - now_ms, 1000);
  select setting::bigint into idle_ms from pg_settings s where s.name = 'idle_in_transaction_session_timeout';
  if idle_ms = 0 or idle_ms > left_ms then
    perform set_config('idle_in_transaction_session_timeout', left_ms::text, true);
  end if;
end
$body$;

revoke execute on function tenure.tenant_of(text) from public;
