-- Writes what was decided about the times of a job. ?1 id, ?2 revision, ?3 next_ms, ?4 look_ms, ?5 paused_ms, ?6 paused_until_ms, ?7 paused_reason
update jobs
   set revision = ?2, next_ms = ?3, look_ms = ?4, paused_ms = ?5, paused_until_ms = ?6, paused_reason = ?7
 where id = ?1
