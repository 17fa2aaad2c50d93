-- The same as queue_send.sql for a payload of bytes.
-- Locks: as tenure.queue_send
select tenure.queue_send_bytes($1, $2, $3::bytea, $4, $5::jsonb, $6, $7::bigint * interval '1 millisecond', $8)
