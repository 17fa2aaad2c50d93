-- Makes licences.
-- Parameters: $1 id[], $2 tenant[], $3 name[], $4 state[], $5 seats[], $6 ttl_ms[], $7 interval_ms[], $8 grace_ms[], $9
-- valid_from_ms[], $10 valid_until_ms[], $11 metadata[], $12 key_hint[], $13 revision[], $14 created_ms[], $15
-- row_count[], $16 held[], $17 holders[], $18 peak[], $19 peak_ms[], $20 last_slot[], $21 next_ticket[], $22 fence[],
-- $23 last_ms[], $24 look_ms[], $25 longest_ms[], $26 born[], $27 incarnation[], $28 log_seq[], $29 log_hash[], $30
-- log_base[]
-- Lock order: licences; nobody else can know of them yet
insert into tenure.licenses (id, tenant, name, state, seats, ttl_ms, interval_ms, grace_ms, valid_from_ms, valid_until_ms, metadata,
       key_hint, revision, created_ms, row_count, held, holders, peak, peak_ms, last_slot, next_ticket, fence,
       last_ms, look_ms, longest_ms, born, incarnation, log_seq, log_hash, log_base)
select * from unnest($1::uuid[], $2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[],
                     $8::bigint[], $9::bigint[], $10::bigint[], $11::text[], $12::text[], $13::bigint[], $14::bigint[],
                     $15::bigint[], $16::bigint[], $17::bigint[], $18::bigint[], $19::bigint[], $20::bigint[],
                     $21::bigint[], $22::bigint[], $23::bigint[], $24::bigint[], $25::bigint[], $26::bigint[],
                     $27::bigint[], $28::bigint[], $29::bytea[], $30::bigint[])
