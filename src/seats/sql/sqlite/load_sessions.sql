-- The seat of a holding, with what its licence says. ?1 session_id
-- Result: license_id, slot, person, open, revoked, expires_ms, tenant, state, ttl_ms, grace_ms, valid_from_ms,
-- valid_until_ms
select s.license_id, s.slot, s.person, s.open, s.revoked, s.expires_ms, l.tenant, l.state, l.ttl_ms, l.grace_ms,
       l.valid_from_ms, l.valid_until_ms
  from seats s join licenses l on l.id = s.license_id
 where s.session_id = ?1
