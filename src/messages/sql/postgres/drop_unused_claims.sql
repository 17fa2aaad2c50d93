-- Takes back what lock_claims.sql made and nothing was handed out for. Parameters: $1 tenant[], $2 claim[]
delete from tenure.message_claims c using unnest($1::text[], $2::uuid[]) as item (tenant, claim)
 where c.tenant = any (array[item.tenant]) and c.claim = item.claim and c.claimed_ms = 0
