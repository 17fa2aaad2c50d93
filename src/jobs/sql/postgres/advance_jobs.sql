-- Writes what was decided about the times of jobs.
-- Parameters: $1 id[], $2 revision[], $3 next_ms[], $4 look_ms[], $5 paused_ms[], $6 paused_until_ms[], $7 paused_reason[]
-- Lock order: under the locks of lock_due.sql or lock_jobs.sql
update tenure.jobs j
   set revision = item.revision, next_ms = item.next_ms, look_ms = item.look_ms, paused_ms = item.paused_ms,
       paused_until_ms = item.paused_until_ms, paused_reason = item.paused_reason
  from unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::text[])
       as item (id, revision, next_ms, look_ms, paused_ms, paused_until_ms, paused_reason)
 where j.id = any (array[item.id])
