-- Messages that wait for their time, and dead letters; counting stops at ?1. Result: waiting, dead
select (select count(*) from (select 1 from messages where pos = 0 limit ?1)),
       (select count(*) from (select 1 from dead_letters where redriven_ms = 0 limit ?1))
