-- How many seats of a licence are past their deadline, and when the next one is: of the licences whose look_ms has
-- passed. A heartbeat that commits meanwhile only moves a deadline on, so what is read is a lower bound.
-- Parameters: $1 license_id[]; each once; $2 a time that is not after now
-- Result: ordinal, how many, the next deadline (null: there is none)
-- Locks: none; under those of lock_licenses.sql
with due as materialized (
  select item.ordinal, l.id
    from unnest($1::uuid[]) with ordinality as item (id, ordinal)
    join tenure.licenses l on l.id = item.id
   where l.look_ms <= $2::bigint
)
select due.ordinal, scan.overdue, scan.next_ms
  from due
 cross join lateral (select count(*) filter (where s.expires_ms <= $2::bigint) as overdue,
                            min(s.expires_ms) filter (where s.expires_ms > $2::bigint) as next_ms
                       from tenure.seats s
                      where s.license_id = any (array[due.id]) and s.open = 0) scan
