-- Writes a seat as it is now. ?1 license_id, ?2 slot, ?3 open, ?4 lapsed_ms, ?5 session_id (nil UUID: none), ?6 machine
-- ('': none), ?7 person, ?8 fence, ?9 started_ms, ?10 beat_ms, ?11 expires_ms, ?12 prior_ms, ?13 revoked, ?14 ticket_id
-- (nil UUID: none), ?15 address, ?16 user_agent, ?17 metadata, ?18 horizon_ms, ?19 epoch
update seats
   set open = ?3, lapsed_ms = ?4, session_id = nullif(?5, zeroblob(16)), machine = nullif(?6, ''), person = ?7, fence = ?8,
       started_ms = ?9, beat_ms = ?10, expires_ms = ?11, prior_ms = ?12, revoked = ?13,
       ticket_id = nullif(?14, zeroblob(16)), address = ?15, user_agent = ?16, metadata = ?17, horizon_ms = ?18, epoch = ?19
 where license_id = ?1 and slot = ?2
