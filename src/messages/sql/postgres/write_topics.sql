-- Changes the settings of topics that are on record. Parameters: $1 tenant[], $2 name[], $3 max_attempts[],
-- $4 max_crashes[], $5 lease_ms[], $6 retention_ms[], $7 backoff_ms[], $8 backoff_max_ms[], $9 dedup_ms[] (each: -2
-- leaves it, -1 is the default), $10 paused[] (-1 leaves it, 0 resumes, else since when), $11 paused_reason[]; each once
-- Lock order: topics in ascending (tenant, name)
update tenure.topics t
   set max_attempts = case item.max_attempts when -2 then t.max_attempts else item.max_attempts end,
       max_crashes = case item.max_crashes when -2 then t.max_crashes else item.max_crashes end,
       lease_ms = case item.lease_ms when -2 then t.lease_ms else item.lease_ms end,
       retention_ms = case item.retention_ms when -2 then t.retention_ms else item.retention_ms end,
       backoff_ms = case item.backoff_ms when -2 then t.backoff_ms else item.backoff_ms end,
       backoff_max_ms = case item.backoff_max_ms when -2 then t.backoff_max_ms else item.backoff_max_ms end,
       dedup_ms = case item.dedup_ms when -2 then t.dedup_ms else item.dedup_ms end,
       paused_ms = case item.paused_ms when -1 then t.paused_ms else item.paused_ms end,
       paused_reason = case item.paused_ms when -1 then t.paused_reason else item.paused_reason end,
       idle_ms = 0
  from unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[],
              $9::bigint[], $10::bigint[], $11::text[])
       as item (tenant, name, max_attempts, max_crashes, lease_ms, retention_ms, backoff_ms, backoff_max_ms, dedup_ms,
                paused_ms, paused_reason)
 where t.tenant = item.tenant and t.name = item.name
