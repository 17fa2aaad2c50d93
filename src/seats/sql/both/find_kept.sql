-- A page of licences with seats that only a Redis keeps, in the order of their ids. It looks at the licences' seats one by
-- one: for the sweep. Parameters: $1 the licence behind which it begins, $2 now_ms, $3 how many at most
-- Result: license_id
-- Locks: none
select l.id
  from tenure.licenses l
 where l.id > $1::uuid and l.held > 0
   and exists (select 1 from tenure.seats s
                where s.license_id = l.id and s.open = 0 and s.expires_ms <= $2::bigint and s.horizon_ms > $2)
 order by l.id
 limit $3::bigint
