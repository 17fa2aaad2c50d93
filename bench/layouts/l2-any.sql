-- Layout 2 whose ack touches one table only: ids as an index condition, (id, fence) looked up in a hashed set. `coalesce` keeps
-- the planner from turning the set into a join. One plan in every state of the statistics, and after waiting for
-- somebody who changed the row, id, fence and lease are compared anew on what that one left.
-- @base l2-mark-by-place
-- @ack
delete from message m
 where m.id = any ($1::uuid[]) and m.lease_until_ms > 0
   and coalesce((m.id, m.fence) in (select item.id, item.fence
                                      from unnest($1::uuid[], $2::bigint[]) as item (id, fence)), false)
returning m.id
