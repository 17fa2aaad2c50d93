-- The seats whose deadline has passed, of the licences that may have such. A seat that is locked is skipped: whoever
-- holds it renews it, so it counts as live. From here on until COMMIT none of those that are found can be renewed.
-- Which licences those are is decided first, and each is looked up by itself: as a plain join the planner reads all seats.
-- Parameters: $1 license_id[]; each once, locked by lock_licenses.sql; $2 a time that is not after now, $3 how many at most
-- Result: ordinal, slot, open, lapsed_ms, session_id, machine, person, fence, started_ms, beat_ms, expires_ms, prior_ms, revoked,
-- ticket_id, address, user_agent, metadata
-- Lock order: seats with SKIP LOCKED: it waits for nobody
with due as materialized (
  select item.ordinal, l.id
    from unnest($1::uuid[]) with ordinality as item (id, ordinal)
    join tenure.licenses l on l.id = item.id
   where l.look_ms <= $2::bigint
)
select due.ordinal, s.slot, s.open, s.lapsed_ms, s.session_id, s.machine, s.person, s.fence, s.started_ms, s.beat_ms, s.expires_ms,
       s.prior_ms, s.revoked, s.ticket_id, s.address, s.user_agent, s.metadata
  from due
  join tenure.seats s on s.license_id = any (array[due.id])
 where s.open = 0 and s.expires_ms <= $2::bigint
 limit $3::bigint
   for no key update of s skip locked
