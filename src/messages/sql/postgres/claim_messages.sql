-- Hands messages out. No indexed column changes: a HOT update.
-- Parameters: $1 id[], $2 fence[], $3 lease_until_ms[], $4 worker[], $5 now_ms; each id once
-- Lock order: under the locks of find_ready.sql
update tenure.messages m
   set fence = item.fence, lease_until_ms = item.lease_until_ms, worker = item.worker, claimed_ms = $5
  from unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::bigint[]) as item (id, fence, lease_until_ms, worker)
 where m.id = any (array[item.id])
