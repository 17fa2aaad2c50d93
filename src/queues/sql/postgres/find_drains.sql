-- Queues to which users' transactions sent something that has not entered. Parameters: $1 rows at most. Result: tenant, queue
-- Locks: none
select tenant, queue from (select s.tenant, s.queue from tenure.queue_staged s where s.number > 0
                            order by s.number limit 10000) as s
 group by tenant, queue limit $1::bigint
