-- Seats as rows of sessions, counted: the document's tables. Variables: licenses, seats.
create table licenses (id int primary key, seats int not null);
create table license_sessions (
  id                uuid primary key default gen_random_uuid(),
  license_id        int not null references licenses,
  machine_id        text not null,
  user_agent        text not null,
  started_at        timestamptz not null default now(),
  last_heartbeat_at timestamptz not null default now(),
  ended_at          timestamptz
);
create unique index license_sessions_active on license_sessions (license_id, machine_id) where ended_at is null;
create index license_sessions_beats on license_sessions (license_id, last_heartbeat_at) where ended_at is null;
create table audit_log (id bigserial primary key, action text not null, session_id uuid not null, at timestamptz not null default now(),
                        metadata jsonb not null);
insert into licenses select i, :seats from generate_series(1, :licenses) i;
