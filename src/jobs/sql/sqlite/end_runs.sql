-- Writes down how a run ended, in the transaction that ends its message. ?1 id, ?2 state, ?3 claimed_ms, ?4 worker,
-- ?5 attempts, ?6 crashes, ?7 output, ?8 error, ?9 now_ms. Result: job_id
update job_runs
   set state = ?2, ended_ms = ?9, sweep_ms = ?9, look_ms = 0, claimed_ms = ?3,
       owner = coalesce((select w.owner from message_workers w where w.worker = ?4),
                        (select o.owner from message_owners o where o.worker = ?4), ''),
       attempts = ?5, crashes = ?6, output = ?7, error = ?8
 where id = ?1 and state < 2
returning job_id
