-- Removes entries that lie before the base of a licence's log. ?1 license_id, ?2 the base, ?3 how many at most
-- Result: seq
delete from seat_log
 where license_id = ?1
   and seq in (select seq from seat_log where license_id = ?1 and seq < ?2 order by seq limit ?3)
returning seq
