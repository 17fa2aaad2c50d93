-- Processes that have ended long ago. ?1 the first beat that counts
delete from processes where seen_ms < ?1
