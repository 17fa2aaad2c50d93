-- Claims that it is time to look at. Parameters: $1 now_ms, $2 limit
-- Result: tenant, claim, started, messages
-- Lock order: message_claims FOR UPDATE SKIP LOCKED, after workers
select tenant, claim, started, messages from tenure.message_claims
 where look_ms <= $1 order by look_ms limit $2 for update skip locked
