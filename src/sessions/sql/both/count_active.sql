-- How many sessions are active, for the gauge. Parameters: $1 now_ms. Result: count. Reads the index of open ones only
select count(*) from tenure.sessions where end_reason is null and end_ms > $1::bigint
