-- A process begins to send heartbeats. Parameters: $1 worker[], $2 tenant[], $3 owner[], $4 expires_ms; each once
insert into tenure.message_workers (worker, tenant, owner, expires_ms)
select item.worker, item.tenant, item.owner, $4
  from unnest($1::bigint[], $2::text[], $3::text[]) as item (worker, tenant, owner)
 order by item.worker
on conflict (worker) do update set expires_ms = excluded.expires_ms
