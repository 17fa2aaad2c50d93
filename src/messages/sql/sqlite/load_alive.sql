-- Whether a worker has a heartbeat, and until when. ?1 worker. Result: worker, expires_ms, or no row
select worker, expires_ms from message_workers where worker = ?1
