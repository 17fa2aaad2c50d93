-- The body of an event. ?1 event_id, ?2 body
insert into webhook_payloads (event_id, body) values (?1, ?2)
