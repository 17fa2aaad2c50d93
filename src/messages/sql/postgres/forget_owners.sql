-- Owners that claimed nothing for long. Parameters: $1 seen before, $2 limit. Result: a row for each
delete from tenure.message_owners o
 where o.worker in (select worker from tenure.message_owners where seen_ms <= $1 limit $2 for update skip locked)
returning 1
