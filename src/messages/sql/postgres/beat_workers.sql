-- Heartbeats. The time is set, not raised: when the clock was set back, a worker that dies then must not live on by
-- the old one. Parameters: $1 worker[], $2 expires_ms; each once, ascending
-- Result: worker; none for one that was given up for dead
-- Lock order: message_workers in ascending order, nothing else in the transaction
update tenure.message_workers w set expires_ms = $2
  from (select worker from tenure.message_workers
         where worker = any ($1::bigint[]) and expires_ms > 0 order by worker for update) as locked
 where w.worker = locked.worker
returning w.worker
