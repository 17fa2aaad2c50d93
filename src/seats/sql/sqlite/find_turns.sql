-- Whether somebody should ask now at a place in line: a seat is offered there, the ticket is gone, or it is the first of a
-- licence in which something may have lapsed. ?1 license_id, ?2 machine, ?3 now_ms. Result: 1
select 1
  from (select ?1 as license_id, ?2 as machine) item
  left join seat_tickets t on t.license_id = item.license_id and t.machine = item.machine
  left join licenses l on l.id = item.license_id
 where t.number is null or t.slot is not null
    or (l.look_ms <= ?3
        and not exists (select 1 from seat_tickets b
                         where b.license_id = t.license_id and b.number < t.number and b.slot is null and b.expires_ms > ?3))
