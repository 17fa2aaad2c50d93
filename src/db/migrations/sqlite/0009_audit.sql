-- oldest program: 0.1.0
-- earlier checksum: 12228bde940b8d7f
-- The audit: what was done, when and by whom. See src/audit/README.md for the invariants.

-- Only ever added to. Every index ends with the sequence, which is the rowid.
create table audit (
  sequence   integer primary key autoincrement,
  at_ms      integer not null,  -- the store's time, within the transaction that did it
  tenant     text not null,     -- of who did it; '': a command on the store itself
  person     text not null,     -- who did it; '': not known (no authentication)
  address    text not null,     -- where the request came from
  request_id text not null,
  act        text not null,     -- "lease.break"
  object     text not null,     -- what it was done to
  detail     text not null      -- a JSON object
) strict;
create index audit_by_time on audit (at_ms);
create index audit_by_tenant on audit (tenant, at_ms);
create index audit_by_person on audit (person, at_ms);
create index audit_by_act on audit (act, at_ms);
create index audit_by_object on audit (object, at_ms);

-- Since when all of it is there: what happened before may have been removed by the retention. One row; it only rises.
create table audit_bounds (
  one          integer primary key check (one = 1),
  kept_from_ms integer not null
) strict;
insert into audit_bounds (one, kept_from_ms) values (1, 0);

create trigger audit_append_only before update on audit
begin
  select raise(abort, 'the audit is append-only: UPDATE is refused');
end;
-- REPLACE would remove a row without asking the trigger below.
create trigger audit_no_replace before insert on audit when exists (select 1 from audit where sequence = new.sequence)
begin
  select raise(abort, 'the audit is append-only: REPLACE is refused');
end;
-- The retention's way: first the bound is raised, for all to see, then what lies before it may go.
create trigger audit_retention_only before delete on audit when old.at_ms >= (select kept_from_ms from audit_bounds)
begin
  select raise(abort, 'the audit is append-only: DELETE of what is not before audit_bounds.kept_from_ms is refused');
end;
create trigger audit_bounds_stay before delete on audit_bounds
begin
  select raise(abort, 'the audit is append-only: DELETE on audit_bounds is refused');
end;
create trigger audit_bounds_rise before update on audit_bounds when new.kept_from_ms < old.kept_from_ms
begin
  select raise(abort, 'the audit is append-only: audit_bounds.kept_from_ms only rises');
end;
create trigger audit_bounds_once before insert on audit_bounds
begin
  select raise(abort, 'the audit is append-only: audit_bounds has its row');
end;
