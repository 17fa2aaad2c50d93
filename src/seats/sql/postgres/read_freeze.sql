-- Until when some licence of a tenant may be frozen; null or nothing: none is. Parameters: $1 tenant
-- Result: frozen_until_ms
-- Locks: none
select s.incarnation_ms + greatest(s.freeze_ms, max(l.longest_ms) + g.lag_ms)
  from tenure.store s join tenure.licenses l on l.tenant = $1::text and l.born < s.incarnation
  join tenure.seat_ledger g on g.only_one = 1
 where s.incarnation_ms > 0
 group by s.incarnation_ms, s.freeze_ms, g.lag_ms
