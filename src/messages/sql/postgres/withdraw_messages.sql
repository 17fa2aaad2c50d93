-- Takes messages back that nobody has claimed. Parameters: $1 id[]. Result: id of each that is gone
-- Lock order: messages with SKIP LOCKED: it waits for nobody
with free as (
  select id from tenure.messages where id = any ($1::uuid[]) and lease_until_ms = 0 for update skip locked)
delete from tenure.messages m where m.id = any (array(select id from free)) returning m.id
