-- The record store's tables, made where they are missing. Ids are blobs of 16 bytes, times milliseconds since 1970, usage
-- micro-units.

-- Each (session, window) once, for ever.
create table if not exists records (
  session_id blob not null,
  window integer not null,
  user_id blob not null,
  tenant_id blob not null,
  capacity_id blob not null,
  kind integer not null,
  start_ms integer not null,
  end_ms integer not null,
  usage integer not null,
  primary key (session_id, window)
) without rowid;

-- Sums over records, kept in the transaction that adds them. `what`: 0 all (its id is zeros), 1 session, 2 user, 3 tenant,
-- 4 capacity. SQLite would turn a sum that is too large into a floating-point number: the checks refuse the transaction
-- instead.
create table if not exists totals (
  what integer not null,
  id blob not null,
  records integer not null,
  usage integer not null check (typeof(usage) = 'integer'),
  primary key (what, id)
) without rowid;

-- Records that came again with other content. They change no total; somebody has to look.
create table if not exists conflicts (
  session_id blob not null,
  window integer not null,
  times integer not null,
  primary key (session_id, window)
) without rowid;
