-- Removes tickets. Parameters: $1 ticket_id[]; each once
-- Lock order: after the seats; a refresh that has one locked ends without waiting for anything
delete from tenure.seat_tickets where ticket_id = any ($1::uuid[])
