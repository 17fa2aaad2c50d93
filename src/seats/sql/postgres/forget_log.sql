-- Removes entries that lie before the base of a licence's log. Parameters: $1 license_id, $2 the base, $3 how many at most
-- Result: seq
-- Lock order: the log, after the licence
delete from tenure.seat_log g
 using (select o.seq from tenure.seat_log o where o.license_id = $1::uuid and o.seq < $2::bigint
         order by o.seq limit $3::bigint) old
 where g.license_id = $1::uuid and g.seq = old.seq
returning g.seq
