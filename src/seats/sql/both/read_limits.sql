-- What holds for the whole store. Result: incarnation, incarnation_ms, freeze_ms, and of the ledger: epoch, identity,
-- frozen_ms, offset_ms, used_ms, lag_ms, incarnation
-- Locks: none
select o.incarnation, o.incarnation_ms, o.freeze_ms, g.epoch, g.identity, g.frozen_ms, g.offset_ms, g.used_ms, g.lag_ms,
       g.incarnation
  from tenure.store o cross join tenure.seat_ledger g
