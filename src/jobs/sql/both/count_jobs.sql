-- For the gauges. Parameters: $1 now_ms, $2 where counting stops. Result: how many jobs there are, the earliest time at
-- which somebody should have looked at one (null: none)
select (select count(*) from (select 1 from tenure.jobs limit $2::bigint) as found),
       (select look_ms from tenure.jobs where look_ms > 0 and look_ms < $1::bigint order by look_ms limit 1)
