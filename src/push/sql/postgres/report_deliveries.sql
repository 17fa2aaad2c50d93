-- Adds what was delivered, and notes how the endpoint is.
-- Parameters: $1 tenant[], $2 name[], $3 id[], $4 delivered[], $5 failed[], $6 last_status[], $7 last_error[],
-- $8 last_ms[] (0: as it was), $9 failures[], $10 next_ms[]; each subscription once
-- Lock order: subscriptions ascending (lock_subscriptions.sql)
update tenure.subscriptions s
   set delivered = s.delivered + item.delivered, failed = s.failed + item.failed,
       last_status = case when item.last_ms > 0 then item.last_status else s.last_status end,
       last_error = case when item.last_ms > 0 then item.last_error else s.last_error end,
       last_ms = greatest(s.last_ms, item.last_ms), failures = item.failures, next_ms = item.next_ms
  from unnest($1::text[], $2::text[], $3::uuid[], $4::bigint[], $5::bigint[], $6::bigint[], $7::text[], $8::bigint[],
              $9::bigint[], $10::bigint[])
       as item (tenant, name, id, delivered, failed, last_status, last_error, last_ms, failures, next_ms)
 where s.tenant = item.tenant and s.name = item.name and s.id = item.id
