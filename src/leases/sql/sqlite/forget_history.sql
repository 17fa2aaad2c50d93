-- Forgets grants that ended long ago. ?1 ended before this ms, ?2 how many at most. Result: fence
delete from lease_history
 where (tenant, name, fence) in (select tenant, name, fence from lease_history where ended_ms < ?1
                                  order by ended_ms limit ?2)
returning fence
