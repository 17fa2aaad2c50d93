-- Processes that have ended long ago. Parameters: $1 the first beat that counts
-- Lock order: rows of processes that nobody beats any more
delete from tenure.processes where seen_ms < $1::bigint
