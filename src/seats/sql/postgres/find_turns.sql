-- At which places in line somebody should ask now: a seat is offered there, the ticket is gone, or it is the first of a
-- licence in which something may have lapsed.
-- Parameters: $1 license_id[], $2 machine[]; each pair once; $3 now_ms
-- Result: ordinal
-- Locks: none
select item.ordinal
  from unnest($1::uuid[], $2::text[]) with ordinality as item (license_id, machine, ordinal)
  left join tenure.seat_tickets t on t.license_id = any (array[item.license_id]) and t.machine = item.machine
  left join tenure.licenses l on l.id = any (array[item.license_id])
 where t.number is null or t.slot is not null
    or (l.look_ms <= $3::bigint
        and not exists (select from tenure.seat_tickets b
                         where b.license_id = any (array[t.license_id]) and b.number < t.number and b.slot is null
                           and b.expires_ms > $3::bigint))
