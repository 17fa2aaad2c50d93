-- Layout 2 where one claim at a time is made per topic (advisory lock until commit): no row locks, so a record less per row
-- in the log; in return the next claim waits for this one's commit.
-- @base l2-hot-claim
-- @before_claim
select pg_advisory_xact_lock($1)
-- @claim
select id, fence, pos, ctid as place, priority, due_ms, enqueued_ms, attempts, crashes, payload_kind, payload,
       correlation, headers, trace
  from message
 where topic_id = $1 and line = 5 and pos >= $2 and pos > 0 and lease_until_ms = 0
 order by pos
 limit $3
-- @mark
update message m
   set fence = item.fence, lease_until_ms = $6 + 30000, worker = $5, claimed_ms = $6
  from unnest($4::tid[], $1::uuid[], $2::bigint[]) as item (place, id, fence)
 where m.ctid = item.place and m.id is not distinct from item.id and m.lease_until_ms = 0
