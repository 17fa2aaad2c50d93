-- oldest program: 0.1.0
-- earlier checksum: fb8fae3999b8dc05
-- Sessions. See src/sessions/README.md for the invariants. Ids are blobs of 16 bytes.
create table sessions (
  id          blob primary key,     -- version 7 of start_ms: order by id is order by start, then id
  tenant      blob not null,
  user_id     blob not null,
  capacity_id blob not null,
  turn        integer not null,     -- 1, 2, 3 … per key; the session with the highest turn is the latest
  kind        integer not null check (kind between 1 and 3),
  start_ms    integer not null,
  end_ms      integer not null check (end_ms >= start_ms),  -- planned, once ended: actual
  end_reason  integer check (end_reason between 1 and 3)    -- 1 upgraded, 2 deleted, 3 expired; null: not ended
) strict, without rowid;
create unique index sessions_by_key on sessions (user_id, capacity_id, turn);
create index sessions_by_tenant on sessions (tenant, id);
create index sessions_due on sessions (end_ms) where end_reason is null;
create index sessions_ended on sessions (end_ms) where end_reason is not null;
