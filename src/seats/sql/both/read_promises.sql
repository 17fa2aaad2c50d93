-- What a licence says of its holders' times, and when the store's own promise of a seat ends that a Redis keeps, too.
-- Parameters: $1 license_id, $2 now_ms
-- Result: ttl_ms, grace_ms, valid_until_ms, the first such end (null: there is none)
-- Locks: none
select l.ttl_ms, l.grace_ms, l.valid_until_ms,
       (select min(s.expires_ms) from tenure.seats s
         where s.license_id = l.id and s.open = 0 and s.expires_ms > $2::bigint and s.horizon_ms > $2)
  from tenure.licenses l
 where l.id = $1::uuid
