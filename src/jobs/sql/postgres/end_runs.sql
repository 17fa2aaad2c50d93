-- Writes down how runs ended, in the transaction that ends their messages. One that is over already stays as it is.
-- Parameters: $1 id[], $2 state[], $3 claimed_ms[], $4 worker[], $5 attempts[], $6 crashes[], $7 output[], $8 error[],
-- $9 now_ms. Result: job_id
-- Lock order: after the messages; a run that a fire has locked is waited for, for as long as that transaction takes
update tenure.job_runs r
   set state = item.state, ended_ms = $9, sweep_ms = $9, look_ms = 0, claimed_ms = item.claimed_ms,
       owner = coalesce((select w.owner from tenure.message_workers w where w.worker = item.worker),
                        (select o.owner from tenure.message_owners o where o.worker = item.worker), ''),
       attempts = item.attempts, crashes = item.crashes, output = item.output, error = item.error
  from unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::text[], $8::text[])
       as item (id, state, claimed_ms, worker, attempts, crashes, output, error)
 where r.id = any (array[item.id]) and r.state < 2
returning r.job_id
