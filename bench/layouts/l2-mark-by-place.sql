-- Layout 2 where only the mark goes by place: the row was locked by the statement before, so it cannot move in between.
-- @base l2-hot-claim
-- @mark
update message m
   set fence = item.fence, lease_until_ms = $6 + 30000, worker = $5, claimed_ms = $6
  from unnest($4::tid[], $1::uuid[], $2::bigint[]) as item (place, id, fence)
 where m.ctid = item.place and m.id is not distinct from item.id
