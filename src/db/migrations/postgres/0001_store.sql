-- oldest program: 0.1.0
-- Who this store is (one row), and the settings that all processes share.
create table tenure.store (
  one_row      boolean primary key default true check (one_row),
  installation uuid not null,
  incarnation  bigint not null,
  identity     text not null     -- system identifier and timeline as last seen; '' until the first look
);
insert into tenure.store (installation, incarnation, identity) values (gen_random_uuid(), 1, '');

create table tenure.settings (
  name  text primary key,
  value text not null
);
