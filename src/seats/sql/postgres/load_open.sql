-- The first of each licence's seats that are to be had, in the order in which they are taken: free ones, then those that
-- lapsed first. As many as are asked for, and as there are tickets in front of the line.
-- Parameters: $1 license_id[]; each once; $2 how many of each[], $3 how much of a line
-- Result: ordinal, slot, open, lapsed_ms, session_id, machine, person, fence, started_ms, beat_ms, expires_ms, prior_ms, revoked,
-- ticket_id, address, user_agent, metadata, horizon_ms, epoch
-- (Compared with any (array[…]) the index would not give them in order: all open seats would be read, and sorted.)
-- Locks: none; an open seat changes only under the locks of lock_licenses.sql
select item.ordinal, s.slot, s.open, s.lapsed_ms, s.session_id, s.machine, s.person, s.fence, s.started_ms, s.beat_ms, s.expires_ms,
       s.prior_ms, s.revoked, s.ticket_id, s.address, s.user_agent, s.metadata, s.horizon_ms, s.epoch
  from unnest($1::uuid[], $2::bigint[]) with ordinality as item (license_id, wanted, ordinal)
 cross join lateral (select *
                       from tenure.seats s
                      where s.license_id = item.license_id and s.open = 1
                      order by s.lapsed_ms, s.slot
                      limit item.wanted + (select count(*)
                                             from (select from tenure.seat_tickets t
                                                    where t.license_id = any (array[item.license_id]) and t.slot is null
                                                    limit $3::bigint) line)) s
