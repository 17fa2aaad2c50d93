-- Parameters: $1 id[], $2 look_ms[]. Lock order: under the locks of lock_waiting.sql
update tenure.job_runs r set look_ms = item.look_ms
  from unnest($1::uuid[], $2::bigint[]) as item (id, look_ms) where r.id = any (array[item.id])
