-- How many seats of a licence are past their deadline, and when the next one is, if the licence's look_ms has passed.
-- ?1 license_id, ?2 a time that is not after now. Result: how many, the next deadline (null: there is none)
select count(*) filter (where s.expires_ms <= ?2), min(s.expires_ms) filter (where s.expires_ms > ?2)
  from licenses l left join seats s on s.license_id = l.id and s.open = 0
 where l.id = ?1 and l.look_ms <= ?2
 group by l.id
