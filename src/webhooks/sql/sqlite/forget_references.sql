-- Removes what referred to an event that is gone. ?1 event_id
delete from webhook_references where event_id = ?1
