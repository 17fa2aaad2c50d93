-- Gives up workers whose heartbeat stopped. ?1 now_ms, ?2 limit. Result: worker
select worker from message_workers where expires_ms <= ?1 order by worker limit ?2
