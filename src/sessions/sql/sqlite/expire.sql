-- Marks overdue sessions as expired; their end stays what it was. Nothing depends on it (S2).
-- Parameters: ?1 now_ms, ?2 how many at most
-- Result: id
update sessions
   set end_reason = 3
 where id in (select id from sessions where end_reason is null and end_ms <= ?1 order by end_ms limit ?2)
returning id
