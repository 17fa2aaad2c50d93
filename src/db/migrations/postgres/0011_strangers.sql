-- oldest program: 0.1.0
-- Users' own transactions may stay open for minutes: they stop nobody (docs/ground.md, Strangers), and what they write is
-- checked as what comes by HTTP is.

-- Messages that were put aside because their topic, or their topic's line of that priority, had no row when they were
-- sent. A process that serves makes the row and moves them (src/messages/enqueue/sort.hpp).
create table tenure.unsorted_messages (
  seq            bigint generated always as identity primary key,  -- the order in which they were sent
  id             uuid not null,
  tenant         text collate "C" not null,
  topic          text collate "C" not null,
  line           smallint not null check (line between 0 and 19),
  due_ms         bigint not null,
  enqueued_ms    bigint not null,
  payload_kind   smallint not null,
  payload        bytea not null,
  correlation_id text not null,
  headers        text not null,
  trace          text not null,
  dedup_key      text collate "C" not null  -- '': none
);

-- What is written past the functions is bounded too. Not validated: an odd row of the past stops no migration.
alter table tenure.messages add constraint messages_due_ms check (due_ms between 0 and 253402300799999) not valid;

-- Tells the processes that wait for a topic ('' and '': those who promote timers and sort messages), and nobody else:
-- NOTIFY takes a lock of the whole cluster at commit (docs/ground.md, Waiting). Called after the insert.
-- Nobody is told where transactions may be prepared for two-phase commit, which a transaction with a NOTIFY cannot be:
-- those who wait look by themselves.
create function tenure.tell_waiters(tenant text, topic text) returns void
language sql volatile set search_path = pg_catalog, pg_temp as $body$
  select pg_notify('tenure', 'm' || chr(10) || tell_waiters.tenant || chr(10) || tell_waiters.topic)
   where current_setting('max_prepared_transactions')::integer = 0
     and exists (select from tenure.message_waiters w
                  where w.tenant = tell_waiters.tenant and w.topic = tell_waiters.topic
                    and w.until_ms > tenure.now_ms())
$body$;

-- Refuses JSON that is nested deeper than what comes by HTTP may be. `json` is what PostgreSQL printed. Few brackets
-- cannot be deep; otherwise what has no bracket inside is taken away, layer by layer.
create function tenure.check_depth(json text) returns void
language plpgsql immutable set search_path = pg_catalog, pg_temp as $body$
declare
  most constant integer := 31;  -- and one more for what it comes in
  rest text := json;
begin
  if length(rest) - length(translate(rest, '[{', '')) <= most then
    return;
  end if;
  rest := translate(regexp_replace(rest, '"([^"\\]|\\.)*"', '', 'g'), '{}', '[]');
  rest := regexp_replace(rest, '[^][]', '', 'g');
  for layer in 1 .. most loop
    rest := replace(rest, '[]', '');
    exit when rest = '';
  end loop;
  if rest <> '' then
    raise exception 'a payload is nested at most % levels deep', most using errcode = '22023';
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
  due_ms  bigint;
  line    constant integer := put_message.priority * 2;
  most    bigint;
  t       record;
  new_id  uuid := tenure.new_id(now_ms);
  earlier uuid;
begin
  if put_message.tenant is null or octet_length(put_message.tenant) not between 1 and 200
     or put_message.tenant ~ '[[:cntrl:]]' then
    raise exception 'a tenant has 1 to 200 bytes and no control characters' using errcode = '22023';
  end if;
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

  select topic_id, lines, dedup_ms into t from tenure.topics
   where tenant = put_message.tenant and name = put_message.topic;
  if not found or t.lines & (3 << line) <> 3 << line then
    insert into tenure.unsorted_messages (id, tenant, topic, line, due_ms, enqueued_ms, payload_kind, payload,
                                          correlation_id, headers, trace, dedup_key)
    values (new_id, put_message.tenant, put_message.topic, line, due_ms, now_ms, put_message.payload_kind,
            put_message.payload, coalesce(put_message.correlation_id, ''), coalesce(put_message.headers::text, ''),
            left(coalesce(put_message.headers ->> 'traceparent', ''), 55), coalesce(put_message.dedup_key, ''));
    perform tenure.tell_waiters('', '');
    return new_id;
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
  -- A timer that is far off is found by the ordinary looks.
  if due_ms <= now_ms then
    perform tenure.tell_waiters(put_message.tenant, put_message.topic);
  elsif due_ms <= now_ms + 60000 then
    perform tenure.tell_waiters('', '');
  end if;
  return new_id;
end
$body$;

revoke execute on function tenure.tell_waiters(text, text) from public;
revoke execute on function tenure.check_depth(text) from public;
