-- oldest program: 0.1.0
-- earlier checksum: 54195f09f609db7b
-- The audit: what was done, when and by whom. See src/audit/README.md for the invariants.

-- Only ever added to. Numbers rise, and have gaps where a transaction was rolled back.
create table tenure.audit (
  sequence   bigint generated always as identity,
  at_ms      bigint not null,            -- the store's time, within the transaction that did it
  tenant     text collate "C" not null,  -- of who did it; '': a command on the store itself
  person     text collate "C" not null,  -- who did it; '': not known (no authentication)
  address    text not null,              -- where the request came from
  request_id text not null,
  act        text collate "C" not null,  -- "lease.break"
  object     text collate "C" not null,  -- what it was done to
  detail     text not null,              -- a JSON object
  primary key (at_ms, sequence)
);
create index audit_by_tenant on tenure.audit (tenant, at_ms, sequence);
create index audit_by_person on tenure.audit (person, at_ms, sequence);
create index audit_by_act on tenure.audit (act, at_ms, sequence);
create index audit_by_object on tenure.audit (object, at_ms, sequence);

-- Since when all of it is there: what happened before may have been removed by the retention. One row; it only rises.
create table tenure.audit_bounds (
  one          smallint primary key default 1 check (one = 1),
  kept_from_ms bigint not null
);
insert into tenure.audit_bounds (kept_from_ms) values (0);

create function tenure.audit_refuse() returns trigger language plpgsql as $$
begin
  raise exception 'the audit is append-only: % on tenure.% is refused', tg_op, tg_table_name;
end
$$;
-- The retention's way: first the bound is raised, for all to see, then what lies before it may go.
create function tenure.audit_check_delete() returns trigger language plpgsql as $$
begin
  if old.at_ms >= (select kept_from_ms from tenure.audit_bounds) then
    raise exception 'the audit is append-only: DELETE of what is not before audit_bounds.kept_from_ms is refused';
  end if;
  return old;
end
$$;
create function tenure.audit_check_bounds() returns trigger language plpgsql as $$
begin
  if new.kept_from_ms < old.kept_from_ms then
    raise exception 'the audit is append-only: audit_bounds.kept_from_ms only rises';
  end if;
  return new;
end
$$;
create trigger audit_append_only before update or truncate on tenure.audit
  for each statement execute function tenure.audit_refuse();
create trigger audit_retention_only before delete on tenure.audit
  for each row execute function tenure.audit_check_delete();
create trigger audit_bounds_stay before delete or truncate on tenure.audit_bounds
  for each statement execute function tenure.audit_refuse();
create trigger audit_bounds_rise before update on tenure.audit_bounds
  for each row execute function tenure.audit_check_bounds();
