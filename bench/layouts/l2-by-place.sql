-- Layout 2 where mark and ack find the row by its place (ctid) and compare id and fence there. A place is a hint: a row that
-- moved is not found (never a wrong one, because of the id), and then the statements by id must be run for the rest.
-- @base l2-hot-claim
-- @mark
update message m
   set fence = item.fence, lease_until_ms = $6 + 30000, worker = $5, claimed_ms = $6
  from unnest($4::tid[], $1::uuid[], $2::bigint[]) with ordinality as item (place, id, fence, ordinal)
 where m.ctid = item.place and m.id is not distinct from item.id
returning item.ordinal, m.ctid as place
-- @ack
delete from message m
 using unnest($4::tid[], $1::uuid[], $2::bigint[]) with ordinality as item (place, id, fence, ordinal)
 where m.ctid = item.place and m.id is not distinct from item.id and m.fence = item.fence and m.lease_until_ms > 0
returning item.ordinal
