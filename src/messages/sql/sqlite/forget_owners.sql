-- Owners that claimed nothing for long. ?1 seen before, ?2 limit. Result: a row for each
delete from message_owners where worker in (select worker from message_owners where seen_ms <= ?1 limit ?2) returning 1
