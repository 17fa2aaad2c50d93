-- Sends a message into a session of an ordered queue, in the transaction of whoever runs it. Parameters: $1 queue, $2 session_key,
-- $3 payload, $4 correlation_id, $5 headers, $6 dedup_key, $7 ttl in milliseconds (null: the queue's), $8 share
-- Result: id
-- Locks: as tenure.queue_send
select tenure.queue_send($1, $2, $3::jsonb, $4, $5::jsonb, $6, $7::bigint * interval '1 millisecond', $8)
