-- Puts on record who claims without a heartbeat: for people. Parameters: $1 worker[], $2 tenant[], $3 owner[], $4 now_ms;
-- each worker once
insert into tenure.message_owners (worker, tenant, owner, seen_ms)
select item.worker, item.tenant, item.owner, $4
  from unnest($1::bigint[], $2::text[], $3::text[]) as item (worker, tenant, owner)
 order by item.worker
on conflict (worker) do update set seen_ms = excluded.seen_ms
