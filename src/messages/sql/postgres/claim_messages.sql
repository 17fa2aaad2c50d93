-- Hands messages out. No indexed column changes: a HOT update.
-- They are found by place, which saves a look-up by id for each: find_ready.sql has locked the rows in this transaction,
-- so nobody can have changed or removed them since, and a row that is not changed stays where it is (whatever rewrites a
-- table needs a lock that waits for ours).
-- Parameters: $1 place[], $2 fence[], $3 lease_until_ms[], $4 worker[], $5 now_ms; each place once
-- Lock order: under the locks of find_ready.sql
update tenure.messages m
   set fence = item.fence, lease_until_ms = item.lease_until_ms, worker = item.worker, claimed_ms = $5
  from unnest($1::tid[], $2::bigint[], $3::bigint[], $4::bigint[]) as item (place, fence, lease_until_ms, worker)
 where m.ctid = item.place
