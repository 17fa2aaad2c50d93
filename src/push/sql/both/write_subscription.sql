-- Writes what a change of a subscription leaves.
-- Parameters: $1 tenant, $2 name, $3 topic, $4 url, $5 max_in_flight, $6 timeout_ms, $7 format, $8 enabled, $9 gone_ms,
-- $10 header_names, $11 secrets, $12 headers, $13 revision, $14 updated_ms, $15 failures, $16 next_ms
-- Lock order: under the lock of lock_subscriptions.sql
update tenure.subscriptions
   set topic = $3::text, url = $4::text, max_in_flight = $5::bigint, timeout_ms = $6::bigint, format = $7::bigint,
       enabled = $8::bigint, gone_ms = $9::bigint, header_names = $10::text, secrets = $11::text, headers = $12::text,
       revision = $13::bigint, updated_ms = $14::bigint, failures = $15::bigint, next_ms = $16::bigint
 where tenant = $1::text and name = $2::text
