-- Adds an entry to the log of a licence. ?1 license_id, ?2 seq, ?3 at_ms, ?4 kind, ?5 session_id (nil UUID: none),
-- ?6 slot (0: none), ?7 fence (0: none), ?8 detail, ?9 hash, ?10 former_id (nil UUID: none)
insert into seat_log (license_id, seq, at_ms, kind, session_id, slot, fence, detail, hash, former_id)
values (?1, ?2, ?3, ?4, nullif(?5, zeroblob(16)), nullif(?6, 0), nullif(?7, 0), ?8, ?9, nullif(?10, zeroblob(16)))
