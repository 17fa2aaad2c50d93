-- Removes a ticket. ?1 tenant, ?2 name, ?3 term
delete from lease_tickets where tenant = ?1 and name = ?2 and term = ?3
