-- The grants of a name that are over, newest first. ?1 tenant, ?2 name, ?3 how many at most
-- Result: fence, term, holder, granted_ms, ended_ms, reason, detail
select fence, term, holder, granted_ms, ended_ms, reason, detail
  from lease_history where tenant = ?1 and name = ?2 order by fence desc limit ?3
