-- oldest program: 0.1.0
-- Where the store keeps track of its own migrations.
create table migrations (
  version        integer primary key,
  name           text not null,
  checksum       text not null,
  oldest_program text not null,
  applied_at     text not null
) strict;
