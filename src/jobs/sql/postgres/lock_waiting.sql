-- Locks runs that wait, where it is time to look whether they still have to, and their messages: whoever withdraws one
-- with its job has locked the message first, and must not be waited for.
-- Parameters: $1 now_ms, $2 how many. Result: id, job_id, made_ms
-- Lock order: job_runs and messages with SKIP LOCKED: it waits for nobody
select r.id, r.job_id, r.made_ms
  from tenure.job_runs r join tenure.messages m on m.id = r.id
 where r.state = 1 and r.look_ms <= $1::bigint order by r.look_ms limit $2::bigint for update of r, m skip locked
