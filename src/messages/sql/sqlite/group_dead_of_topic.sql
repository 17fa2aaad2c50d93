-- Dead letters of a topic that died alike, the largest groups first, over those with the highest ids
-- Parameters: ?1 tenant, ?2 topic, ?3 how many letters are looked at
-- Result: topic, reason, first line of the error, letters, died_ms of the first and of the last, one id, letters of all groups
-- Locks: none
with newest as (
  select d.id, d.topic_id, d.reason, d.error, d.died_ms
    from dead_letters d
   where d.topic_id = (select topic_id from topics where tenant = ?1 and name = ?2) and d.redriven_ms = 0
   order by d.id desc
   limit ?3)
select t.name, c.reason, c.line, c.letters, c.first_ms, c.last_ms, c.id, (select count(*) from newest)
  from (select topic_id, reason, substr(error, 1, instr(error || char(10), char(10)) - 1) as line, count(*) as letters, min(died_ms) as first_ms,
               max(died_ms) as last_ms, max(id) as id
          from newest group by 1, 2, 3) as c
  join topics t on t.topic_id = c.topic_id
 order by c.letters desc, t.name, c.reason, c.line
 limit 100
