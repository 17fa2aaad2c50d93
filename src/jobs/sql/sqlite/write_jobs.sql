-- Writes a job as it is now. ?1 id, ?2 topic, ?3 cron, ?4 every_ms, ?5 zone, ?6 headers, ?7 priority, ?8 enabled, ?9 missed, ?10
-- missed_window_ms, ?11 missed_cap, ?12 overlap, ?13 gap, ?14 repeat, ?15 jitter_ms, ?16 starts_ms, ?17 ends_ms, ?18
-- watch, ?19 payload, ?20 origin, ?21 revision, ?22 created_ms, ?23 changed_ms, ?24 since_ms, ?25 next_ms, ?26
-- look_ms, ?27 paused_ms, ?28 paused_until_ms, ?29 paused_reason
update jobs
   set topic = ?2, cron = ?3, every_ms = ?4, zone = ?5, headers = ?6, priority = ?7, enabled = ?8, missed = ?9,
       missed_window_ms = ?10, missed_cap = ?11, overlap = ?12, gap = ?13, repeat = ?14, jitter_ms = ?15, starts_ms =
       ?16, ends_ms = ?17, watch = ?18, payload = ?19, origin = ?20, revision = ?21, created_ms = ?22, changed_ms =
       ?23, since_ms = ?24, next_ms = ?25, look_ms = ?26, paused_ms = ?27, paused_until_ms = ?28, paused_reason = ?29
 where id = ?1
