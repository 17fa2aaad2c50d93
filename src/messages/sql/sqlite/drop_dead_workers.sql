-- A worker that was given up and of whose claims nothing is left to look at. ?1 worker
delete from message_workers
 where worker = ?1 and not exists (select 1 from message_claims c where c.worker = message_workers.worker)
