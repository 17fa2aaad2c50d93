-- Writes down what was handed out.
-- Parameters: $1 tenant[], $2 claim[], $3 worker[], $4 look_ms[], $5 started[], $6 messages[], $7 now_ms; each once
insert into tenure.message_claims (tenant, claim, worker, claimed_ms, look_ms, started, messages)
select item.tenant, item.claim, item.worker, $7, item.look_ms, item.started, item.messages
  from unnest($1::text[], $2::uuid[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bytea[])
       as item (tenant, claim, worker, look_ms, started, messages)
 order by item.tenant collate "C", item.claim
on conflict (tenant, claim) do update
   set worker = excluded.worker, claimed_ms = excluded.claimed_ms, look_ms = excluded.look_ms,
       started = excluded.started, messages = excluded.messages
