-- Removes entries that nobody touched for the retention and whose claim, if one was under way, is over.
-- The oldest first deliveries are looked at first; an entry that was touched later than that stays and is passed over.
-- Parameters: $1 not touched since this ms, $2 now_ms, $3 how many at most. Result: tenant, fence
-- Lock order: inbox with SKIP LOCKED: it waits for nobody
with old as (
  select ctid from tenure.inbox
   where received_ms < $1::bigint and fence > 0 and updated_ms < $1::bigint and (state <> 1 or lease_until_ms <= $2::bigint)
   order by received_ms
   limit $3::bigint
     for update skip locked
)
delete from tenure.inbox i where i.ctid = any (array(select ctid from old)) returning i.tenant, i.fence
