-- When to look at claims again. Parameters: $1 tenant[], $2 claim[], $3 look_ms[]; each once
-- Lock order: under the locks of the reaper
update tenure.message_claims c set look_ms = item.look_ms
  from unnest($1::text[], $2::uuid[], $3::bigint[]) as item (tenant, claim, look_ms)
 where c.tenant = any (array[item.tenant]) and c.claim = item.claim
