-- Somebody asks for messages of this topic: to the minute, for people. ?1 tenant, ?2 name, ?3 now_ms
update topics set asked_ms = ?3 where tenant = ?1 and name = ?2
