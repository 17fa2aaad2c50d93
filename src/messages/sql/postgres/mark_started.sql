-- Workers begin with messages of their claims. Parameters: $1 tenant[], $2 claim[], $3 started[]; each claim once
-- Lock order: message_claims, ascending as given
update tenure.message_claims c set started = item.started
  from unnest($1::text[], $2::uuid[], $3::bigint[]) as item (tenant, claim, started)
 where c.tenant = any (array[item.tenant]) and c.claim = item.claim and c.started < item.started
