-- Messages that users' transactions have put aside: those without a dedup key, and of those with one the given ones.
-- Those that another process sorts at this moment are passed over.
-- Parameters: $1 seq[] of some with a key, $2 limit
-- Result: seq, tenant, topic, line, due_ms
-- Lock order: unsorted_messages FOR UPDATE SKIP LOCKED, before topics
select seq, tenant, topic, line, due_ms
  from tenure.unsorted_messages where dedup_key = '' or seq = any ($1::bigint[])
 order by seq limit $2 for update skip locked
