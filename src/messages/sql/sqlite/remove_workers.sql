-- A worker that left, or was given up for dead. ?1 worker
delete from message_workers where worker = ?1
