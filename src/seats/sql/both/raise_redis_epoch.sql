-- Another Redis keeps heartbeats from now on, or none. At most once per freeze.
-- Parameters: $1 the epoch before, $2 identity ('': none), $3 frozen_ms, $4 offset_ms, $5 now_ms, $6 lag_ms
-- Result: epoch; no row: somebody was first, or the freeze of the epoch before lasts
-- Lock order: under lock_seat_ledger.sql
update tenure.seat_ledger
   set epoch = $1::bigint + 1, identity = nullif($2::text, ''), frozen_ms = $3::bigint, offset_ms = $4::bigint,
       lag_ms = $6::bigint, incarnation = (select o.incarnation from tenure.store o)
 where epoch = $1 and frozen_ms <= $5::bigint
returning epoch
