-- Forgets answers that were kept long enough. Parameters: ?1 kept before this ms, ?2 how many at most. Result: name
delete from answers where name in (select name from answers where kept_ms < ?1 order by kept_ms limit ?2)
returning name
