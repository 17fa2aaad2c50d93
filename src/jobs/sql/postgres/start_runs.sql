-- Keeps when runs were begun whose messages are put back, to be claimed again. Parameters: $1 id[], $2 claimed_ms[]
-- Lock order: after the messages; a run that a fire has locked is waited for, for as long as that transaction takes
update tenure.job_runs r set started_ms = item.claimed_ms
  from unnest($1::uuid[], $2::bigint[]) as item (id, claimed_ms)
 where r.id = any (array[item.id]) and r.started_ms = 0
