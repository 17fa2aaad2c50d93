-- Adds entries to the logs of licences.
-- Parameters: $1 license_id[], $2 seq[], $3 at_ms[], $4 kind[], $5 session_id[] (nil UUID: none), $6 slot[] (0: none),
-- $7 fence[] (0: none), $8 detail[], $9 hash[], $10 former_id[] (nil UUID: none)
-- Lock order: after the tickets, under the locks of lock_licenses.sql: a licence's entries are written by one transaction
-- at a time
insert into tenure.seat_log (license_id, seq, at_ms, kind, session_id, slot, fence, detail, hash, former_id)
select license_id, seq, at_ms, kind, nullif(session_id, '00000000-0000-0000-0000-000000000000'), nullif(slot, 0),
       nullif(fence, 0), detail, hash, nullif(former_id, '00000000-0000-0000-0000-000000000000')
  from unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::text[], $5::uuid[], $6::bigint[], $7::bigint[], $8::text[],
              $9::bytea[], $10::uuid[])
       as item (license_id, seq, at_ms, kind, session_id, slot, fence, detail, hash, former_id)
