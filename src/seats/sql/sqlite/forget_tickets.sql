-- Removes tickets that are dead for long. ?1 dead since this ms, ?2 how many at most. Result: number
delete from seat_tickets
 where rowid in (select rowid from seat_tickets where slot is null and expires_ms < ?1 limit ?2)
returning number
