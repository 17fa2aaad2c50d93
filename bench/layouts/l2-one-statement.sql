-- Layout 2 with a claim of one statement, joined by id. It returns what the update wrote, so the fence needs no second look.
-- @base l2-hot-claim
-- @claim
with taken as materialized (
  select id from message
   where topic_id = $1 and line = 5 and pos >= $2 and pos > 0 and lease_until_ms = 0
   order by pos limit $3 for no key update skip locked)
update message m
   set fence = m.fence + 1, lease_until_ms = $5 + 30000, worker = $4, claimed_ms = $5
  from taken
 where m.id = taken.id
returning m.id, m.fence, m.pos, m.ctid as place, m.priority, m.due_ms, m.enqueued_ms, m.attempts, m.crashes,
          m.payload_kind, m.payload, m.correlation, m.headers, m.trace
-- @mark
