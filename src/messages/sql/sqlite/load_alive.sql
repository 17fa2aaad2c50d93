-- Whether a worker has a heartbeat. ?1 worker. Result: worker, or no row
select worker from message_workers where worker = ?1
