-- The document's table and indexes (section 10.1), in PostgreSQL's words.
create table lumel_session (
  session_id        uuid primary key default gen_random_uuid(),
  user_object_id    uuid not null,
  tenant_object_id  uuid not null,
  capacity_id       uuid not null,
  session_start_utc timestamptz(3) not null,
  session_end_utc   timestamptz(3) not null,
  session_kind      int not null check (session_kind in (1, 2, 3)),
  is_active         boolean not null default true,
  check (session_end_utc > session_start_utc)
);
create unique index lumel_session_user_capacity_active
  on lumel_session (user_object_id, capacity_id) where is_active;
create index lumel_session_expiration on lumel_session (session_end_utc, is_active) where is_active;
create index lumel_session_active on lumel_session (is_active)
  include (user_object_id, tenant_object_id, capacity_id, session_kind) where is_active;
