-- Writes licences as they are now.
-- Parameters: $1 id[], $2 name[], $3 state[], $4 seats[], $5 ttl_ms[], $6 interval_ms[], $7 grace_ms[], $8 valid_from_ms[], $9
-- valid_until_ms[], $10 metadata[], $11 key_hint[], $12 revision[], $13 row_count[], $14 held[], $15 holders[], $16
-- peak[], $17 peak_ms[], $18 last_slot[], $19 next_ticket[], $20 fence[], $21 last_ms[], $22 look_ms[], $23
-- longest_ms[], $24 incarnation[], $25 log_seq[], $26 log_hash[]; each id once
-- Lock order: under the locks of lock_licenses.sql
update tenure.licenses l
   set name = item.name, state = item.state, seats = item.seats, ttl_ms = item.ttl_ms, interval_ms =
       item.interval_ms, grace_ms = item.grace_ms, valid_from_ms = item.valid_from_ms, valid_until_ms =
       item.valid_until_ms, metadata = item.metadata, key_hint = item.key_hint, revision = item.revision,
       row_count = item.row_count, held = item.held, holders = item.holders, peak = item.peak, peak_ms =
       item.peak_ms, last_slot = item.last_slot, next_ticket = item.next_ticket, fence = item.fence, last_ms =
       item.last_ms, look_ms = item.look_ms, longest_ms = item.longest_ms, incarnation = item.incarnation, log_seq
       = item.log_seq, log_hash = item.log_hash
  from unnest($1::uuid[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[],
              $8::bigint[], $9::bigint[], $10::text[], $11::text[], $12::bigint[], $13::bigint[], $14::bigint[],
              $15::bigint[], $16::bigint[], $17::bigint[], $18::bigint[], $19::bigint[], $20::bigint[],
              $21::bigint[], $22::bigint[], $23::bigint[], $24::bigint[], $25::bigint[], $26::bytea[])
       as item (id, name, state, seats, ttl_ms, interval_ms, grace_ms, valid_from_ms, valid_until_ms, metadata,
                key_hint, revision, row_count, held, holders, peak, peak_ms, last_slot, next_ticket, fence, last_ms,
                look_ms, longest_ms, incarnation, log_seq, log_hash)
 where l.id = item.id
