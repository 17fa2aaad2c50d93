-- Which licence a ticket is of, and for which machine. ?1 ticket_id. Result: license_id, machine
select license_id, machine from seat_tickets where ticket_id = ?1
