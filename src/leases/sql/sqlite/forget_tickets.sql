-- Removes tickets of processes that are gone. ?1 dead since this ms, ?2 how many at most. Result: number
delete from lease_tickets
 where (tenant, name, number) in (select tenant, name, number from lease_tickets where expires_ms < ?1 limit ?2)
returning number
