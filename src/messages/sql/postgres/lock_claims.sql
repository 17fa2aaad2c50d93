-- Locks claim ids that clients chose, whether or not they were used: a new one gets a row without messages.
-- Parameters: $1 tenant[], $2 claim[]; each once
-- Lock order: message_claims in ascending (tenant, claim), before messages
insert into tenure.message_claims (tenant, claim, worker, claimed_ms, look_ms, started, messages)
select item.tenant, item.claim, 0, 0, 0, 0, ''
  from unnest($1::text[], $2::uuid[]) as item (tenant, claim)
 order by item.tenant collate "C", item.claim
on conflict (tenant, claim) do update set worker = excluded.worker where false
