-- Deletes sessions that ended before the retention period, and whose usage is settled. Parameters: ?1 ended before this ms, ?2 how many at most
-- Result: user_id, capacity_id (a key may come more than once), end_ms
delete from sessions
 where id in (select id from sessions where end_reason is not null and end_ms < ?1 order by end_ms limit ?2)
returning user_id, capacity_id, end_ms
