-- How many seats of a licence are over as find_lapsed.sql has it, and when the next one is: of the licences whose look_ms
-- has passed. A heartbeat that commits meanwhile only moves a deadline on, so what is read is a lower bound.
-- Parameters: $1 license_id[]; each once; $2 a time that is not after now
-- Result: ordinal, how many, the next deadline (null: there is none)
-- Locks: none; under those of lock_licenses.sql
with due as materialized (
  select item.ordinal, item.id from unnest($1::uuid[]) with ordinality as item (id, ordinal)
)
select due.ordinal, scan.overdue, scan.next_ms
  from due
 cross join lateral (select count(*) filter (where o.over_ms <= $2::bigint) as overdue,
                            min(o.over_ms) filter (where o.over_ms > $2::bigint) as next_ms
                       from (select case when s.epoch > g.epoch or (s.epoch = g.epoch and g.identity is not null) then greatest(s.expires_ms, s.horizon_ms)
            else least(greatest(s.expires_ms, s.horizon_ms), greatest(s.expires_ms, g.frozen_ms)) end as over_ms
                               from tenure.seats s join tenure.seat_ledger g on g.only_one = 1
                              where s.license_id = any (array[due.id]) and s.open = 0) o) scan
