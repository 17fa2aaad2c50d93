-- Makes a subscription, unless its name is taken; nobody has sent anything yet.
-- Parameters: $1 tenant, $2 name, $3 id, $4 topic, $5 url, $6 max_in_flight, $7 timeout_ms, $8 format, $9 enabled,
-- $10 header_names, $11 secrets, $12 headers, $13 now_ms
-- Result: name when it was made
-- Lock order: subscriptions, then subscription_topics
insert into tenure.subscriptions (tenant, name, id, topic, url, max_in_flight, timeout_ms, format, enabled, gone_ms,
                                  header_names, secrets, headers, revision, created_ms, updated_ms, failures, next_ms,
                                  last_status, last_error, last_ms, delivered, failed)
values ($1::text, $2::text, $3::uuid, $4::text, $5::text, $6::bigint, $7::bigint, $8::bigint, $9::bigint, 0, $10::text,
        $11::text, $12::text, 1, $13::bigint, $13::bigint, 0, 0, 0, '', 0, 0, 0)
on conflict do nothing
returning name
