-- Settings for one transaction: behind a transaction pooler, where the session may be another one each time, and for a
-- transaction that waits for locks only a moment.
-- Parameters: $1 lock_timeout, $2 statement_timeout, $3 idle_in_transaction_session_timeout, all in ms
select set_config('lock_timeout', $1::bigint::text, true)
       || set_config('statement_timeout', $2::bigint::text, true)
       || set_config('idle_in_transaction_session_timeout', $3::bigint::text, true)
       || set_config('TimeZone', 'UTC', true)
       || set_config('enable_seqscan', 'off', true)
       || set_config('enable_hashjoin', 'off', true)
       || set_config('enable_mergejoin', 'off', true)
       || set_config('jit', 'off', true) as settings
