-- Notes that the Redis of an epoch is used. Parameters: $1 epoch, $2 now_ms
-- Lock order: under lock_seat_ledger.sql
update tenure.seat_ledger set used_ms = $2::bigint where epoch = $1::bigint and used_ms < $2
