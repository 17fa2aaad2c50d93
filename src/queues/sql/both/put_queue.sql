-- Makes a queue, or changes what its owner set. A queue that was removed and comes again goes on.
-- Parameters: $1 tenant, $2 name, $3 state, $4 generation, $5 oldest, $6 key_rule, $7 scope, $8 max_sessions,
-- $9 session_timeout_ms, $10 idle_timeout_ms, $11 max_duration_ms, $12 max_messages, $13 max_delivery_count, $14 backoff_ms,
-- $15 backoff_max_ms, $16 on_dead_letter, $17 ttl_ms, $18 depth_threshold, $19 max_bytes, $20 dedup_ms, $21 history_ms
-- Lock order: this row, under the bots lock
insert into tenure.queues (tenant, name, state, generation, oldest, key_rule, paused_ms, paused_reason, floor_fence,
                           floor_sequence, scope, max_sessions, session_timeout_ms, idle_timeout_ms, max_duration_ms,
                           max_messages, max_delivery_count, backoff_ms, backoff_max_ms, on_dead_letter, ttl_ms,
                           depth_threshold, max_bytes, dedup_ms, history_ms)
values ($1::text, $2::text, $3::bigint, $4::bigint, $5::bigint, $6::text, 0, '', 0, 0, $7::bigint, $8::bigint, $9::bigint,
        $10::bigint, $11::bigint, $12::bigint, $13::bigint, $14::bigint, $15::bigint, $16::bigint, $17::bigint, $18::bigint,
        $19::bigint, $20::bigint, $21::bigint)
on conflict (tenant, name) do update
   set state = excluded.state, generation = excluded.generation, oldest = excluded.oldest, key_rule = excluded.key_rule,
       scope = excluded.scope, max_sessions = excluded.max_sessions, session_timeout_ms = excluded.session_timeout_ms,
       idle_timeout_ms = excluded.idle_timeout_ms, max_duration_ms = excluded.max_duration_ms,
       max_messages = excluded.max_messages, max_delivery_count = excluded.max_delivery_count,
       backoff_ms = excluded.backoff_ms, backoff_max_ms = excluded.backoff_max_ms,
       on_dead_letter = excluded.on_dead_letter, ttl_ms = excluded.ttl_ms, depth_threshold = excluded.depth_threshold,
       max_bytes = excluded.max_bytes, dedup_ms = excluded.dedup_ms, history_ms = excluded.history_ms
