-- As enqueue.sql, for a payload of bytes ($2).
select tenure.enqueue_bytes($1, $2::bytea,
                            coalesce($3::timestamptz, clock_timestamp() + $4::bigint * interval '1 millisecond'),
                            $5::integer, $6, $7::jsonb, $8)
