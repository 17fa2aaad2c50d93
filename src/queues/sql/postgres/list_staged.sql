-- The keys of what users' transactions sent to a queue, the oldest first. Parameters: $1 tenant, $2 queue, $3 rows at most
-- Result: key, share; each key once
-- Locks: none: the rows are read again under the locks of their sessions
select s.key, min(s.share)
  from (select t.key, t.share from tenure.queue_staged t
         where t.tenant = $1::text and t.queue = $2::text and t.number > 0
         order by t.number limit $3::bigint) as s
 group by s.key
