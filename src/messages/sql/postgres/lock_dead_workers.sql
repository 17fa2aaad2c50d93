-- Gives up workers whose heartbeat stopped. Parameters: $1 now_ms, $2 limit. Result: worker
-- Lock order: message_workers FOR UPDATE SKIP LOCKED, first of all
select worker from tenure.message_workers where expires_ms <= $1 order by worker limit $2 for update skip locked
