-- Writes jobs as they are now. Parameters: $1 id[], $2 topic[], $3 cron[], $4 every_ms[], $5 zone[], $6 headers[], $7 priority[], $8 enabled[], $9 missed[],
-- $10 missed_window_ms[], $11 missed_cap[], $12 overlap[], $13 gap[], $14 repeat[], $15 jitter_ms[], $16 starts_ms[],
-- $17 ends_ms[], $18 watch[], $19 payload[], $20 origin[], $21 revision[], $22 created_ms[], $23 changed_ms[], $24
-- since_ms[], $25 next_ms[], $26 look_ms[], $27 paused_ms[], $28 paused_until_ms[], $29 paused_reason[]
-- Lock order: under the locks of lock_jobs.sql and add_jobs.sql
update tenure.jobs j
   set topic = item.topic, cron = item.cron, every_ms = item.every_ms, zone = item.zone, headers = item.headers,
       priority = item.priority, enabled = item.enabled, missed = item.missed, missed_window_ms =
       item.missed_window_ms, missed_cap = item.missed_cap, overlap = item.overlap, gap = item.gap, repeat =
       item.repeat, jitter_ms = item.jitter_ms, starts_ms = item.starts_ms, ends_ms = item.ends_ms, watch =
       item.watch, payload = item.payload, origin = item.origin, revision = item.revision, created_ms =
       item.created_ms, changed_ms = item.changed_ms, since_ms = item.since_ms, next_ms = item.next_ms, look_ms =
       item.look_ms, paused_ms = item.paused_ms, paused_until_ms = item.paused_until_ms, paused_reason =
       item.paused_reason
  from unnest($1::uuid[], $2::text[], $3::text[], $4::bigint[], $5::text[], $6::text[], $7::bigint[], $8::bigint[],
              $9::bigint[], $10::bigint[], $11::bigint[], $12::bigint[], $13::bigint[], $14::bigint[], $15::bigint[],
              $16::bigint[], $17::bigint[], $18::bigint[], $19::text[], $20::bigint[], $21::bigint[], $22::bigint[],
              $23::bigint[], $24::bigint[], $25::bigint[], $26::bigint[], $27::bigint[], $28::bigint[], $29::text[])
       as item (id, topic, cron, every_ms, zone, headers, priority, enabled, missed, missed_window_ms, missed_cap,
                overlap, gap, repeat, jitter_ms, starts_ms, ends_ms, watch, payload, origin, revision, created_ms,
                changed_ms, since_ms, next_ms, look_ms, paused_ms, paused_until_ms, paused_reason)
 where j.id = any (array[item.id])
