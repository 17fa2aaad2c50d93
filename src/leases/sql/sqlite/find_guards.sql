-- Whose transactions hold off a new fence: nobody's, since the write transaction is the lock. ?1 tenant, ?2 name
-- Result: pid, user, since when in milliseconds
select 0, '', 0 where ?1 is null and ?2 is null
