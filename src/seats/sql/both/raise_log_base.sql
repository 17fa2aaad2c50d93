-- Makes a checkpoint the base of a licence's log: what lies before it may go. Parameters: $1 license_id, $2 seq
-- Lock order: the licence, before its log
update tenure.licenses set log_base = $2::bigint where id = $1::uuid and log_base < $2::bigint
