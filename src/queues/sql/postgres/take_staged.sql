-- Takes what users' transactions sent to a queue that keeps no order any more: it goes to the queue's topic.
-- Parameters: $1 tenant, $2 queue, $3 rows at most
-- Result: id, payload_kind, payload, correlation_id, headers, trace, dedup_key; in the order of their commits
-- Lock order: the rows by number. Two who take wait for each other, so that a row goes once
with taken as (
  delete from tenure.queue_staged s
   where s.id = any (array(select t.id from tenure.queue_staged t
                            where t.tenant = $1::text and t.queue = $2::text and t.number > 0
                            order by t.number limit $3::bigint for update))
  returning s.number, s.id, s.payload_kind, s.payload, s.correlation_id, s.headers, s.trace, s.dedup_key)
select id, payload_kind, payload, correlation_id, headers, trace, dedup_key from taken order by number
