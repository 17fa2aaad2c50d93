-- The grants of a name that are over, newest first. Parameters: $1 tenant, $2 name, $3 how many at most
-- Result: fence, term, holder, granted_ms, ended_ms, reason, detail
-- Locks: none
select fence, term, holder, granted_ms, ended_ms, reason, detail
  from tenure.lease_history
 where tenant = $1::text and name = $2::text
 order by fence desc
 limit $3::bigint
