-- oldest program: 0.1.0
-- Who this store is (one row), its clock's high-water mark (one row), and the settings that must stay the same.
create table store (
  one_row      integer primary key check (one_row = 1),
  installation text not null,
  incarnation  integer not null,
  identity     text not null     -- the nonce that the side file has too; '' until the first look
) strict;
insert into store values (1, lower(hex(randomblob(16))), 1, '');

create table clock_mark (
  one_row integer primary key check (one_row = 1),
  now_ms  integer not null,
  boot_ms integer not null,
  boot_id text not null
) strict;
insert into clock_mark values (1, 0, 0, '');

create table settings (
  name  text primary key,
  value text not null
) strict;
