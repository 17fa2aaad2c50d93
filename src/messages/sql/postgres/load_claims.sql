-- What was handed out under claim ids. After the locks. Parameters: $1 tenant[], $2 claim[]; each once
-- Result: ordinal, messages
select item.ordinal, c.messages
  from unnest($1::text[], $2::uuid[]) with ordinality as item (tenant, claim, ordinal)
  join tenure.message_claims c on c.tenant = any (array[item.tenant]) and c.claim = item.claim
 where c.claimed_ms > 0
