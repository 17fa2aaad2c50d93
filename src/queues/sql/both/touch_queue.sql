-- Somebody asks for sessions of a queue. Parameters: $1 tenant, $2 queue, $3 now_ms
-- Lock order: queues, ascending
update tenure.queues set asked_ms = $3::bigint where tenant = $1::text and name = $2::text and asked_ms < $3::bigint
