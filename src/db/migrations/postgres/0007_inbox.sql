-- oldest program: 0.1.0
-- earlier checksum: 5f86741418006c3b
-- The inbox. See src/inbox/README.md for the invariants.
-- One row per inbound message that was ever begun, until its retention is over.
create table tenure.inbox (
  tenant         text collate "C" not null,
  source         text collate "C" not null,
  message_id     text collate "C" not null,
  state          smallint not null,  -- 0 only inside of the transaction that makes it; 1 claimed, 2 retrying, 3 done, 4 dead
  fence          bigint not null,    -- of the latest claim; never goes back
  term           uuid,               -- that the claimer chose, if any
  hash           text,               -- of the message; null: nobody told it yet
  lease_until_ms bigint not null,    -- until when the latest claim keeps others away
  not_before_ms  bigint not null,    -- retrying: until when the back-off lasts
  attempts       int not null,       -- failures that were reported
  crashes        int not null,       -- claims that ended without a word
  result         text,               -- done: JSON, if there is one
  error          text,               -- of the last failure
  received_ms    bigint not null,    -- the first delivery
  updated_ms     bigint not null,    -- the last claim, completion or failure
  primary key (tenant, source, message_id)
) with (fillfactor = 80);
create index inbox_by_age on tenure.inbox (received_ms) where fence > 0;
-- Claims under way: those that are overdue for long are stuck.
create index inbox_claimed on tenure.inbox (lease_until_ms) where state = 1;

-- The highest fence of the entries that were removed: new entries of the tenant start above it.
create table tenure.inbox_floors (
  tenant text collate "C" primary key,
  fence  bigint not null
);

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
create function tenure.inbox_complete(source text, message_id text, fence bigint, result jsonb default null,
                                      tenant text default 'default') returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $body$
declare
  entry   tenure.inbox%rowtype;
  now_ms  bigint;
  left_ms bigint;
  idle_ms bigint;
begin
  select i.* into entry
    from tenure.inbox i
   where i.tenant = inbox_complete.tenant and i.source = inbox_complete.source
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
revoke execute on function tenure.inbox_complete(text, text, bigint, jsonb, text) from public;
do $body$
begin
  if exists (select from pg_roles where rolname = 'tenure_app') then
    grant execute on function tenure.inbox_complete(text, text, bigint, jsonb, text) to tenure_app;
  end if;
end
$body$;
