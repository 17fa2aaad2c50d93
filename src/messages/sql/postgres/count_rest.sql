-- Messages that wait for their time, and dead letters; counting stops at $1. Result: waiting, dead
select (select count(*) from (select from tenure.messages where pos = 0 limit $1::bigint) as w),
       (select count(*) from (select from tenure.dead_letters where redriven_ms = 0 limit $1::bigint) as d)
