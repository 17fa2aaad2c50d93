-- Keeps a ticket of this process alive. ?1 tenant, ?2 name, ?3 term, ?4 expires_ms
update lease_tickets set expires_ms = ?4 where tenant = ?1 and name = ?2 and term = ?3
