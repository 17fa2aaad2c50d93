-- Claims of workers that are given up. Parameters: $1 worker[], $2 limit
-- Result: tenant, claim, started, messages
-- Lock order: message_claims FOR UPDATE SKIP LOCKED, after workers
select tenant, claim, started, messages from tenure.message_claims
 where worker = any ($1::bigint[]) limit $2 for update skip locked
