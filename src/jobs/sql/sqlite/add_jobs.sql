-- Makes the row of a job that is new. ?1 id, ?2 tenant, ?3 name
insert into jobs (id, tenant, name, topic, cron, every_ms, zone, payload, headers, priority, enabled, missed,
                  missed_window_ms, missed_cap, overlap, gap, repeat, jitter_ms, starts_ms, ends_ms, watch, origin,
                  revision, created_ms, changed_ms, since_ms, next_ms, look_ms, paused_ms, paused_until_ms, paused_reason)
values (?1, ?2, ?3, '', '', 0, 'UTC', 'null', '', 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, '')
on conflict do nothing
