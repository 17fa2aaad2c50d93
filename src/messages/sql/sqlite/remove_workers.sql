-- A worker that left. ?1 worker
delete from message_workers where worker = ?1
