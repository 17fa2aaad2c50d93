-- Topics of all tenants with dead letters, those with the most first; counting stops at $1
-- Parameters: $1 how many rows are looked at. Result: tenant, name, dead, died_ms of the first and of the last
-- Locks: none
select t.tenant, t.name, c.dead, c.first_ms, c.last_ms
  from (select topic_id, count(*) as dead, min(died_ms) as first_ms, max(died_ms) as last_ms
          from (select topic_id, died_ms from tenure.dead_letters where redriven_ms = 0 limit $1::bigint) as d
         group by topic_id) as c
  join tenure.topics t on t.topic_id = c.topic_id
 order by c.dead desc, t.tenant, t.name
 limit 100
