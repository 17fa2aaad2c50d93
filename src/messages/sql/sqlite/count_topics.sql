-- Topics of all tenants with something ready, the fullest first; counting stops at ?1. Result: tenant, name, asked_ms, ready, since when the
-- first has been ready
select tenant, name, asked_ms, ready,
       (select min(max(due_ms, enqueued_ms)) from (select due_ms, enqueued_ms from messages m
         where m.topic_id = counted.topic_id and m.pos > 0 and m.lease_until_ms = 0 order by m.line, m.pos limit 1000))
  from (select t.topic_id, t.tenant, t.name, t.asked_ms,
               (select count(*) from (select 1 from messages m where m.topic_id = t.topic_id and m.pos > 0
                                       and m.lease_until_ms = 0 limit ?1)) as ready
          from topics t) as counted
 where ready > 0
 order by ready desc
 limit 10000
