-- Writes seats as they are now.
-- Parameters: $1 license_id[], $2 slot[]; each pair once; $3 open[], $4 lapsed_ms[], $5 session_id[] (nil UUID: none),
-- $6 machine[] ('': none), $7 person[], $8 fence[], $9 started_ms[], $10 beat_ms[], $11 expires_ms[], $12 prior_ms[],
-- $13 revoked[], $14 ticket_id[] (nil UUID: none), $15 address[], $16 user_agent[], $17 metadata[], $18 horizon_ms[],
-- $19 epoch[]
-- Lock order: under the locks of lock_licenses.sql; a row that a heartbeat could have locked was locked before
update tenure.seats s
   set open = item.open, lapsed_ms = item.lapsed_ms, session_id = nullif(item.session_id, '00000000-0000-0000-0000-000000000000'),
       machine = nullif(item.machine, ''), person = item.person, fence = item.fence, started_ms = item.started_ms,
       beat_ms = item.beat_ms, expires_ms = item.expires_ms, prior_ms = item.prior_ms, revoked = item.revoked,
       ticket_id = nullif(item.ticket_id, '00000000-0000-0000-0000-000000000000'), address = item.address,
       user_agent = item.user_agent, metadata = item.metadata, horizon_ms = item.horizon_ms, epoch = item.epoch
  from unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::bigint[], $5::uuid[], $6::text[], $7::text[], $8::bigint[],
              $9::bigint[], $10::bigint[], $11::bigint[], $12::bigint[], $13::bigint[], $14::uuid[], $15::text[], $16::text[],
              $17::text[], $18::bigint[], $19::bigint[])
       as item (license_id, slot, open, lapsed_ms, session_id, machine, person, fence, started_ms, beat_ms, expires_ms,
                prior_ms, revoked, ticket_id, address, user_agent, metadata, horizon_ms, epoch)
 where s.license_id = any (array[item.license_id]) and s.slot = item.slot
