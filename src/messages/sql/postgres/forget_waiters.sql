-- Processes that waited long ago. Parameters: $1 until before. Result: a row for each
delete from tenure.message_waiters where until_ms <= $1 returning 1
