-- Writes a licence as it is now. ?1 id, ?2 name, ?3 state, ?4 seats, ?5 ttl_ms, ?6 interval_ms, ?7 grace_ms, ?8 valid_from_ms, ?9
-- valid_until_ms, ?10 metadata, ?11 key_hint, ?12 revision, ?13 row_count, ?14 held, ?15 holders, ?16 peak,
-- ?17 peak_ms, ?18 last_slot, ?19 next_ticket, ?20 fence, ?21 last_ms, ?22 look_ms, ?23 longest_ms, ?24
-- incarnation, ?25 log_seq, ?26 log_hash
update licenses
   set name = ?2, state = ?3, seats = ?4, ttl_ms = ?5, interval_ms = ?6, grace_ms = ?7, valid_from_ms = ?8,
       valid_until_ms = ?9, metadata = ?10, key_hint = ?11, revision = ?12, row_count = ?13, held = ?14, holders =
       ?15, peak = ?16, peak_ms = ?17, last_slot = ?18, next_ticket = ?19, fence = ?20, last_ms = ?21, look_ms =
       ?22, longest_ms = ?23, incarnation = ?24, log_seq = ?25, log_hash = ?26
 where id = ?1
