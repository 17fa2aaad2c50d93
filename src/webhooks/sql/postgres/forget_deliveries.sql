-- Removes deliveries whose window is over. Parameters: $1 received before this ms, $2 how many at most. Result: 1 for each
-- Lock order: webhook_deliveries with SKIP LOCKED: it waits for nobody
with old as (
  select ctid from tenure.webhook_deliveries where received_ms < $1::bigint
   order by received_ms limit $2::bigint for update skip locked
)
delete from tenure.webhook_deliveries d where d.ctid = any (array(select ctid from old)) returning 1
