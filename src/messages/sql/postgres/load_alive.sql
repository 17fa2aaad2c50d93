-- Which of these workers have a heartbeat. Parameters: $1 worker[]. Result: worker
-- Locks: none
select worker from tenure.message_workers where worker = any ($1::bigint[])
