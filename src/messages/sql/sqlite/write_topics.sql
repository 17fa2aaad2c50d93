-- Changes the settings of a topic that is on record. ?1 tenant, ?2 name, ?3 max_attempts, ?4 max_crashes, ?5 lease_ms,
-- ?6 retention_ms, ?7 backoff_ms, ?8 backoff_max_ms, ?9 dedup_ms (each: -2 leaves it, -1 is the default), ?10 paused
-- (-1 leaves it, 0 resumes, else since when), ?11 paused_reason
update topics
   set max_attempts = case ?3 when -2 then max_attempts else ?3 end,
       max_crashes = case ?4 when -2 then max_crashes else ?4 end,
       lease_ms = case ?5 when -2 then lease_ms else ?5 end,
       retention_ms = case ?6 when -2 then retention_ms else ?6 end,
       backoff_ms = case ?7 when -2 then backoff_ms else ?7 end,
       backoff_max_ms = case ?8 when -2 then backoff_max_ms else ?8 end,
       dedup_ms = case ?9 when -2 then dedup_ms else ?9 end,
       paused_ms = case ?10 when -1 then paused_ms else ?10 end,
       paused_reason = case ?10 when -1 then paused_reason else ?11 end,
       idle_ms = 0
 where tenant = ?1 and name = ?2
