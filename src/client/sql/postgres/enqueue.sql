-- Enqueues a message in the transaction of whoever runs it. A delay counts from now, not from the beginning of the
-- transaction. Parameters: $1 topic, $2 payload, $3 due_at, $4 delay in milliseconds (one of the two, or both null),
-- $5 priority, $6 correlation_id, $7 headers, $8 dedup_key
-- Result: id
-- Locks: as tenure.enqueue
select tenure.enqueue($1, $2::jsonb, coalesce($3::timestamptz, clock_timestamp() + $4::bigint * interval '1 millisecond'),
                      $5::integer, $6, $7::jsonb, $8)
