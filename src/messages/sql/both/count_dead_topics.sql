-- Topics of all tenants with dead letters, those with the most first; counting stops at $1 in each. Of each tenant at most 100 topics,
-- so that one tenant's hide no other's, and of all at most 1,000.
-- Parameters: $1 how many letters of a topic are looked at. Result: tenant, name, dead, died_ms of the first and of the last
-- Locks: none
select p.tenant, p.name, p.dead,
       (select min(died_ms) from (select died_ms from tenure.dead_letters d
                                   where d.topic_id = p.topic_id and d.redriven_ms = 0 limit $1::bigint) as a),
       (select max(died_ms) from (select died_ms from tenure.dead_letters d
                                   where d.topic_id = p.topic_id and d.redriven_ms = 0 limit $1::bigint) as b)
  from (select c.topic_id, c.tenant, c.name, c.dead,
               row_number() over (partition by c.tenant order by c.dead desc, c.name) as place
          from (select t.topic_id, t.tenant, t.name,
                       (select count(*) from (select 1 from tenure.dead_letters d
                                               where d.topic_id = t.topic_id and d.redriven_ms = 0 limit $1::bigint) as l) as dead
                  from tenure.topics t) as c
         where c.dead > 0) as p
 where p.place <= 100
 order by p.place, p.dead desc, p.tenant, p.name
 limit 1000
