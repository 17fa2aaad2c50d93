-- Keeps a ticket of this process alive. ?1 license_id, ?2 machine, ?3 process, ?4 expires_ms
update seat_tickets set expires_ms = ?4, process = ?3 where license_id = ?1 and machine = ?2 and slot is null
