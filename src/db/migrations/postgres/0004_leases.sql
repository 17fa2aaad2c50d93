-- oldest program: 0.1.0
-- earlier checksum: b8dc6df3446365e5
-- Leases. See src/leases/README.md for the invariants.
alter table tenure.store
  add column incarnation_ms bigint not null default 0,  -- when the incarnation rose last; 0: never
  add column longest_ttl_ms bigint not null default 0;  -- of any lease that was ever granted

-- One row per name that was ever asked for: the thing that is locked. It stays after a release, because the fence
-- must never go back.
create table tenure.leases (
  tenant       text collate "C" not null,
  name         text collate "C" not null,
  fence        bigint not null,  -- of the latest grant; 0: there was none yet
  term         uuid,             -- of the grant under way (also when it is overdue); null: it was ended
  holder       text not null,
  metadata     text not null,    -- a JSON object, or ''
  ttl_ms       bigint not null,
  granted_ms   bigint not null,
  renewed_ms   bigint not null,
  expires_ms   bigint not null,  -- the deadline; once ended: the end
  break_reason text,             -- not null: an operator broke it, no renewal any more
  next_ticket  bigint not null,
  -- This makes the fence part of a key: whoever holds FOR KEY SHARE on the row (tenure.check_fence) holds off a
  -- change of the fence, and nothing else: renewals pass.
  constraint leases_fence unique (tenant, name, fence)
) with (fillfactor = 70);

-- After the other one, also in the order of their names (in which a dump is restored): PostgreSQL enters a row in its
-- indexes in the order in which they were made. Two transactions that insert a new name at the same moment
-- (lock_names.sql) must meet in leases_fence, where the second waits before it has entered anything. Were it the other
-- way round, it would wait there with its entry in the primary key already made, and the first, which enters a new
-- version of the row when it grants, would wait for that: a deadlock.
alter table tenure.leases add primary key (tenant, name);

-- The highest fence of the names that were removed: new names of the tenant start above it.
create table tenure.lease_floors (
  tenant text collate "C" primary key,
  fence  bigint not null
);

-- Grants that are over: for people, and so that a term never grants twice.
create table tenure.lease_history (
  tenant     text collate "C" not null,
  name       text collate "C" not null,
  fence      bigint not null,
  term       uuid not null,
  holder     text not null,
  granted_ms bigint not null,
  ended_ms   bigint not null,
  reason     smallint not null,  -- 1 released, 2 expired, 4 broken
  detail     text not null,      -- why it was broken
  primary key (tenant, name, fence)
);
create unique index lease_history_by_term on tenure.lease_history (tenant, name, term);
create index lease_history_by_age on tenure.lease_history (ended_ms);

-- Who waits, first come first served. A ticket that its process does not refresh is dead.
create table tenure.lease_tickets (
  tenant     text collate "C" not null,
  name       text collate "C" not null,
  number     bigint not null,
  term       uuid not null,
  process    text not null,
  expires_ms bigint not null,
  primary key (tenant, name, number)
) with (fillfactor = 70);
create unique index lease_tickets_by_term on tenure.lease_tickets (tenant, name, term);

-- For a user's own transaction: raises TN001 unless `fence` is the one of the live grant of `name`, and holds off a
-- takeover until the transaction ends. The row lock first, the clock after it (docs/ground.md). A transaction that is
-- forgotten ends by itself: it may stand idle no longer than the grant lasts.
create function tenure.check_fence(name text, fence bigint, tenant text default 'default') returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $body$
declare
  deadline_ms  bigint;
  remaining_ms bigint;
  idle_ms      bigint;
begin
  select l.expires_ms into deadline_ms
    from tenure.leases l
   where l.tenant = check_fence.tenant and l.name = check_fence.name and l.fence = check_fence.fence
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
revoke execute on function tenure.check_fence(text, bigint, text) from public;

-- The role that users' transactions have, where this migration may make it.
do $body$
begin
  create role tenure_app;
exception when duplicate_object or unique_violation or insufficient_privilege then
  null;
end
$body$;
do $body$
begin
  if exists (select from pg_roles where rolname = 'tenure_app') then
    grant usage on schema tenure to tenure_app;
    grant execute on function tenure.check_fence(text, bigint, text) to tenure_app;
  end if;
end
$body$;
