-- Lines in which something is ready that find_ready.sql passed over, because another transaction had it locked. SQLite has
-- no such locks, and no such query.
-- Parameters: $1 tenant[], $2 topic[], $3 line[], $4 from_pos[] (low-water mark, topic_cache.hpp)
-- Result: ordinal
-- Locks: none. A new statement: it does not see what this transaction has handed out.
select item.ordinal
  from unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[]) with ordinality
       as item (tenant, topic, line, from_pos, ordinal)
  join tenure.topics t on t.tenant = item.tenant and t.name = item.topic and t.paused_ms = 0
 cross join lateral (
       select from tenure.messages c
        where c.topic_id = t.topic_id and c.line = item.line::smallint and c.pos > 0 and c.pos >= item.from_pos
          and c.lease_until_ms = 0
        order by c.pos
        limit 1) as m
