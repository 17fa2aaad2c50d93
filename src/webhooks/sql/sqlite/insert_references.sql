-- A message of a topic that has but the address of its payload. ?1 event_id, ?2 message_id
insert into webhook_references (event_id, message_id) values (?1, ?2)
