-- oldest program: 0.1.0
-- earlier checksum: bd1e40580b2e3b82
-- Sessions. See src/sessions/README.md for the invariants.

-- One row per (user, capacity) that ever had a session: the thing that is locked. It exists before the session
-- does, so a key without a session can be locked too.
create table tenure.session_keys (
  user_id     uuid not null,
  capacity_id uuid not null,
  primary key (user_id, capacity_id)
);

create table tenure.sessions (
  id          uuid primary key,  -- version 7 of start_ms: order by id is order by start, then id
  tenant      uuid not null,
  user_id     uuid not null,
  capacity_id uuid not null,
  turn        bigint not null,   -- 1, 2, 3 … per key; the session with the highest turn is the latest
  kind        smallint not null check (kind between 1 and 3),
  start_ms    bigint not null,
  end_ms      bigint not null check (end_ms >= start_ms),  -- planned, once ended: actual
  end_reason  smallint check (end_reason between 1 and 3)  -- 1 upgraded, 2 deleted, 3 expired; null: not ended
);
create unique index sessions_by_key on tenure.sessions (user_id, capacity_id, turn);
create index sessions_by_tenant on tenure.sessions (tenant, id);
create index sessions_due on tenure.sessions (end_ms) where end_reason is null;
create index sessions_ended on tenure.sessions (end_ms) where end_reason is not null;
