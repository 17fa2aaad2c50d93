-- Which of these workers have a heartbeat, and until when. Parameters: $1 worker[]. Result: worker, expires_ms
-- Locks: none
select worker, expires_ms from tenure.message_workers where worker = any ($1::bigint[])
