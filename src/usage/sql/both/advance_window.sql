-- Goes on with a window, if nobody else did since it was read: last_id is what is compared.
-- Parameters: $1 number, $2 last_id as read, $3 last_id, $4 chunks, $5 records, $6 state
-- Result: number; no row when somebody else did
-- Lock order: usage_windows, one row
update tenure.usage_windows
   set last_id = $3::uuid, chunks = $4::bigint, records = $5::bigint, state = $6::bigint
 where number = $1::bigint and last_id = $2::uuid and state = 2
returning number
