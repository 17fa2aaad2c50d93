-- Claims of which nothing is held any more. Parameters: $1 tenant[], $2 claim[]
-- Lock order: under the locks of the reaper
delete from tenure.message_claims c using unnest($1::text[], $2::uuid[]) as item (tenant, claim)
 where c.tenant = any (array[item.tenant]) and c.claim = item.claim
