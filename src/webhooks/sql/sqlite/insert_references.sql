-- A message of a topic, with the event that it is of: it stays for as long as there is one. ?1 event_id, ?2 message_id
insert into webhook_references (event_id, message_id) values (?1, ?2)
