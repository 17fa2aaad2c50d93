-- How many seats of a licence are over as find_lapsed.sql has it, and when the next one is; of one whose look_ms has passed.
-- ?1 license_id, ?2 a time that is not after now. Result: how many, the next deadline (null: there is none)
select count(*) filter (where o.over_ms <= ?2), min(o.over_ms) filter (where o.over_ms > ?2)
  from (select case when s.epoch > g.epoch or (s.epoch = g.epoch and g.identity is not null) then max(s.expires_ms, s.horizon_ms)
            else min(max(s.expires_ms, s.horizon_ms), max(s.expires_ms, g.frozen_ms)) end as over_ms
          from seats s cross join seat_ledger g
         where s.license_id = ?1 and s.open = 0) o
