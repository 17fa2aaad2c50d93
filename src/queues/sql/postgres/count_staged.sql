-- What users' transactions sent and has not entered its sessions, as far as it was committed, of the first ten thousand
-- messages. Parameters: none. Result: tenant, queue, how many
-- Locks: none
select s.tenant, s.queue, count(*)
  from (select c.tenant, c.queue from tenure.queue_staged c where c.number > 0 order by c.number limit 10000) as s
 group by s.tenant, s.queue
