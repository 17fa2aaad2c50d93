-- Removes the body of an event that is gone. ?1 event_id
delete from webhook_payloads where event_id = ?1
