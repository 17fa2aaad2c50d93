-- Layout 2 whose plans cannot go wrong: the claim is one statement joined by place; the ack looks each id up in a lateral
-- sub-select with a limit (which the planner cannot turn into another join) and deletes by the place that it found.
-- Id and place come from one snapshot, so they are one row; fence and lease are compared on the row that is deleted,
-- also after waiting for somebody who changed it.
-- @base l2-one-by-place
-- @ack
delete from message m
 using (select given.fence, given.ordinal, found.place
          from unnest($1::uuid[], $2::bigint[]) with ordinality as given (id, fence, ordinal)
         cross join lateral (select ctid as place from message where id = given.id limit 1) found) item
 where m.ctid = item.place and m.fence = item.fence and m.lease_until_ms > 0
returning item.ordinal
