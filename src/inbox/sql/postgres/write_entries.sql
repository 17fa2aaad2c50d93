-- Writes the entries that a batch changed.
-- Parameters: $1 tenant[], $2 source[], $3 message_id[], $4 state[], $5 fence[], $6 term[] (nil UUID: none), $7 hash[]
-- ('': none), $8 lease_until_ms[], $9 not_before_ms[], $10 attempts[], $11 crashes[], $12 result[] ('': none),
-- $13 error[] ('': none), $14 received_ms[], $15 updated_ms[]; each entry once
-- Lock order: under the locks of lock_entries.sql and add_entries.sql
update tenure.inbox i
   set state = item.state, fence = item.fence, term = nullif(item.term, '00000000-0000-0000-0000-000000000000'),
       hash = nullif(item.hash, ''), lease_until_ms = item.lease_until_ms, not_before_ms = item.not_before_ms,
       attempts = item.attempts, crashes = item.crashes, result = nullif(item.result, ''),
       error = nullif(item.error, ''), received_ms = item.received_ms, updated_ms = item.updated_ms
  from unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::uuid[], $7::text[], $8::bigint[],
              $9::bigint[], $10::bigint[], $11::bigint[], $12::text[], $13::text[], $14::bigint[], $15::bigint[])
       as item (tenant, source, message_id, state, fence, term, hash, lease_until_ms, not_before_ms, attempts, crashes,
                result, error, received_ms, updated_ms)
 where i.tenant = any (array[item.tenant]) and i.source = item.source
   and i.message_id = item.message_id
