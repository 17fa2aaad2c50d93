-- Makes a licence. ?1 id, ?2 tenant, ?3 name, ?4 state, ?5 seats, ?6 ttl_ms, ?7 interval_ms, ?8 grace_ms, ?9 valid_from_ms, ?10
-- valid_until_ms, ?11 metadata, ?12 key_hint, ?13 revision, ?14 created_ms, ?15 row_count, ?16 held, ?17
-- holders, ?18 peak, ?19 peak_ms, ?20 last_slot, ?21 next_ticket, ?22 fence, ?23 last_ms, ?24 look_ms, ?25
-- longest_ms, ?26 born, ?27 incarnation, ?28 log_seq, ?29 log_hash, ?30 log_base
insert into licenses (id, tenant, name, state, seats, ttl_ms, interval_ms, grace_ms, valid_from_ms, valid_until_ms, metadata,
       key_hint, revision, created_ms, row_count, held, holders, peak, peak_ms, last_slot, next_ticket, fence,
       last_ms, look_ms, longest_ms, born, incarnation, log_seq, log_hash, log_base)
values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23,
        ?24, ?25, ?26, ?27, ?28, ?29, ?30)
