-- A page of the audit, newest first; of one person: by audit_by_person.
-- Parameters: ?1 tenant, ?2 person, ?3 act, ?4 object ('': any), ?5 from_ms, and before ?6 at_ms, ?7 sequence; ?8 limit
-- Result: sequence, at_ms, tenant, person, address, request_id, act, object, detail
select a.sequence, a.at_ms, a.tenant, a.person, a.address, a.request_id, a.act, a.object, a.detail
  from audit a
 where a.person = ?2 and a.at_ms between ?5 and ?6 and (a.at_ms < ?6 or a.sequence < ?7)
   and (?1 = '' or a.tenant = ?1) and (?3 = '' or a.act = ?3) and (?4 = '' or a.object = ?4)
 order by a.at_ms desc, a.sequence desc
 limit ?8
