-- Behind a transaction pooler only: the settings that otherwise belong to the session.
-- Parameters: $1 lock_timeout in ms, $2 statement_timeout in ms
select set_config('lock_timeout', $1::bigint::text, true) || set_config('statement_timeout', $2::bigint::text, true)
       || set_config('TimeZone', 'UTC', true) as settings
