-- Adds free seats.
-- Parameters: $1 license_id[]; each once; $2 the first slot[], $3 the last[]
-- Lock order: under the locks of lock_licenses.sql
insert into tenure.seats (license_id, slot, open, lapsed_ms, person, fence, started_ms, beat_ms, expires_ms, prior_ms, revoked,
                          address, user_agent, metadata, horizon_ms, epoch)
select item.license_id, number, 1, 0, '', 0, 0, 0, 0, 0, 0, '', '', '', 0, 0
  from unnest($1::uuid[], $2::bigint[], $3::bigint[]) as item (license_id, first, last)
 cross join lateral generate_series(item.first, item.last) as number
