-- Adds one act to the audit, in a transaction of maintenance. Everything is text.
-- Parameters: $1 now_ms, $2 person, $3 address, $4 act, $5 object, $6 detail
insert into tenure.audit (at_ms, tenant, person, address, request_id, act, object, detail)
values ($1::bigint, '', $2::text, $3::text, '', $4::text, $5::text, $6::text)
