-- Forgets grants that ended long ago. Parameters: $1 ended before this ms, $2 how many at most. Result: fence
-- Lock order: lease_history with SKIP LOCKED
with old as (
  select ctid from tenure.lease_history where ended_ms < $1::bigint order by ended_ms limit $2::bigint
     for update skip locked
)
delete from tenure.lease_history h where h.ctid = any (array(select ctid from old)) returning h.fence
