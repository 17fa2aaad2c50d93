-- Topics of a tenant in the order of their names, and how full they are; counting stops at $5.
-- Parameters: $1 tenant, $2 this name ('': any), $3 behind this name, $4 limit, $5 most to count
-- Result: name, the columns of load_topics.sql, ready, claimed, dead, since when the first ready one has been ready (0:
-- none is)
select t.name, t.topic_id, t.lines, t.max_attempts, t.max_crashes, t.lease_ms, t.retention_ms, t.backoff_ms,
       t.backoff_max_ms, t.dedup_ms, t.paused_ms, t.paused_reason, t.asked_ms, c.ready, c.claimed,
       (select count(*) from (select from tenure.dead_letters d where d.topic_id = t.topic_id and d.redriven_ms = 0
                               limit $5::bigint) as few),
       coalesce(c.oldest_ms, 0)
  from tenure.topics t
 cross join lateral (
       select count(*) filter (where m.lease_until_ms = 0) as ready, count(*) filter (where m.lease_until_ms > 0) as claimed,
              min(greatest(m.due_ms, m.enqueued_ms)) filter (where m.lease_until_ms = 0) as oldest_ms
         from (select lease_until_ms, due_ms, enqueued_ms from tenure.messages
                where topic_id = t.topic_id and pos > 0 limit $5::bigint) as m) as c
 where t.tenant = $1::text and t.name > $3::text and ($2::text = '' or t.name = $2::text)
 order by t.name
 limit $4::bigint
