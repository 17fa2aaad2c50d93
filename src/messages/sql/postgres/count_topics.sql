-- Topics of all tenants with something ready, the fullest first; counting stops at $1. Result: tenant, name, asked_ms, ready, since when the
-- first has been ready
select t.tenant, t.name, t.asked_ms, c.ready, c.oldest_ms
  from tenure.topics t
 cross join lateral (
       select count(*) as ready, min(greatest(m.due_ms, m.enqueued_ms)) as oldest_ms
         from (select due_ms, enqueued_ms from tenure.messages
                where topic_id = t.topic_id and pos > 0 and lease_until_ms = 0 limit $1::bigint) as m) as c
 where c.ready > 0
 order by c.ready desc
 limit 10000
