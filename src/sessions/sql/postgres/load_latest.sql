-- The latest session of each key, active or not. Under the keys' locks it is what a transaction decides on; without
-- them it is a look (repeating a PUT for an existing session must not write).
-- Parameters: $1 user_id[], $2 capacity_id[]; each key once
-- Result: ordinal, id, tenant, user_id, capacity_id, turn, kind, start_ms, end_ms, end_reason; no row for a key
-- that has none
-- Locks: none
select item.ordinal, s.id, s.tenant, s.user_id, s.capacity_id, s.turn, s.kind, s.start_ms, s.end_ms, s.end_reason
  from unnest($1::uuid[], $2::uuid[]) with ordinality as item (user_id, capacity_id, ordinal)
 cross join lateral (select *
                       from tenure.sessions s
                      where s.user_id = item.user_id and s.capacity_id = item.capacity_id
                      order by s.turn desc
                      limit 1) s
