-- Takes messages back that nobody has claimed, also those that a user's transaction has put aside (0011_strangers.sql).
-- Parameters: $1 id[]. Result: id of each that is gone
-- Lock order: messages and unsorted_messages with SKIP LOCKED: it waits for nobody
with free as (
  select id from tenure.messages where id = any ($1::uuid[]) and lease_until_ms = 0 for update skip locked),
aside as (
  select seq from tenure.unsorted_messages where id = any ($1::uuid[]) for update skip locked),
gone as (
  delete from tenure.messages m where m.id = any (array(select id from free)) returning m.id),
unsent as (
  delete from tenure.unsorted_messages u where u.seq = any (array(select seq from aside)) returning u.id)
select id from gone union all select id from unsent
