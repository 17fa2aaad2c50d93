-- The front of a name's line, dead tickets included. ?1 tenant, ?2 name, ?3 how many at most
-- Result: number, term, process, expires_ms; ascending by number
select number, term, process, expires_ms from lease_tickets where tenant = ?1 and name = ?2 order by number limit ?3
