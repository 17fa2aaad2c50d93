-- Closes a window. The primary key would refuse a second one of that number.
-- Parameters: $1 number, $2 start_ms, $3 end_ms, $4 sealed_ms, $5 incarnation, $6 state
-- Lock order: under the seal
insert into tenure.usage_windows (number, start_ms, end_ms, sealed_ms, incarnation, state, last_id, chunks, records)
values ($1::bigint, $2::bigint, $3::bigint, $4::bigint, $5::bigint, $6::bigint, '00000000-0000-0000-0000-000000000000', 0, 0)
