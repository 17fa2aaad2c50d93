-- Topics of a tenant in the order of their names, and how full they are; counting stops at ?5.
-- ?1 tenant, ?2 this name ('': any), ?3 behind this name, ?4 limit, ?5 most to count
-- Result: name, the columns of load_topics.sql, ready, claimed, dead, since when the first ready one has been ready (0:
-- none is)
select t.name, t.topic_id, t.lines, t.max_attempts, t.max_crashes, t.lease_ms, t.retention_ms, t.backoff_ms,
       t.backoff_max_ms, t.dedup_ms, t.paused_ms, t.paused_reason, t.asked_ms,
       (select count(*) from (select 1 from messages m where m.topic_id = t.topic_id and m.pos > 0
                               and m.lease_until_ms = 0 limit ?5)),
       (select count(*) from (select 1 from messages m where m.topic_id = t.topic_id and m.pos > 0
                               and m.lease_until_ms > 0 limit ?5)),
       (select count(*) from (select 1 from dead_letters d where d.topic_id = t.topic_id and d.redriven_ms = 0 limit ?5)),
       coalesce((select min(max(due_ms, enqueued_ms)) from (select due_ms, enqueued_ms from messages m
                  where m.topic_id = t.topic_id and m.pos > 0 and m.lease_until_ms = 0 order by m.line, m.pos limit 1000)), 0)
  from topics t
 where t.tenant = ?1 and t.name > ?3 and (?2 = '' or t.name = ?2)
 order by t.name
 limit ?4
