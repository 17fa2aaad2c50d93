-- What users' transactions sent to sessions, in the order of their commits. Under the sessions' locks, which are the only
-- mutex: with SKIP LOCKED on these rows two who drain would change their order.
-- Parameters: $1 tenant[], $2 queue[], $3 key[]; each triple once; $4 rows at most of each
-- Result: ordinal, id, key, share, payload_kind, payload, correlation_id, headers, trace, dedup_key, ttl_ms; by number
-- Locks: none
select item.ordinal, f.*
  from unnest($1::text[], $2::text[], $3::text[]) with ordinality as item (tenant, queue, key, ordinal)
 cross join lateral (
       select s.id, s.key, s.share, s.payload_kind, s.payload, s.correlation_id, s.headers, s.trace, s.dedup_key, s.ttl_ms
         from tenure.queue_staged s
        where s.tenant = item.tenant and s.queue = item.queue and s.key = item.key and s.number > 0
        order by s.number
        limit $4::bigint) as f
