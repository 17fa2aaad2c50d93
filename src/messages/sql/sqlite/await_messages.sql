-- Nothing to wait for: the write transaction is the lock. ?1 id, ?2 tenant
-- Result: none
select ?1, ?2 where false
