-- oldest program: 0.1.0
-- Where the store keeps track of its own migrations.
create schema if not exists tenure;

create table tenure.migrations (
  version        int primary key,
  name           text not null,
  checksum       text not null,
  oldest_program text not null,
  applied_at     timestamptz not null
);
