-- A worker that is given up: a heartbeat of its is refused from now on. ?1 worker
update message_workers set expires_ms = 0 where worker = ?1
