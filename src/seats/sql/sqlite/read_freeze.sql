-- Until when some licence of a tenant may be frozen; nothing: none is. ?1 tenant. Result: frozen_until_ms
select s.incarnation_ms + max(s.freeze_ms, max(l.longest_ms) + g.lag_ms)
  from store s join licenses l on l.tenant = ?1 and l.born < s.incarnation cross join seat_ledger g
 where s.incarnation_ms > 0
 group by s.incarnation_ms, s.freeze_ms
