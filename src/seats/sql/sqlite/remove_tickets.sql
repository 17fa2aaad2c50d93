-- Removes a ticket. ?1 ticket_id
delete from seat_tickets where ticket_id = ?1
