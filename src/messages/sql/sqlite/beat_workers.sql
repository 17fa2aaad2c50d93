-- A heartbeat. ?1 worker, ?2 expires_ms. Result: worker; nothing for one that was given up for dead
update message_workers set expires_ms = ?2 where worker = ?1 and expires_ms > 0 returning worker
