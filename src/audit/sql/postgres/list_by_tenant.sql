-- A page of the audit, newest first; of one tenant: by audit_by_tenant.
-- REQUIRES: walk_index.sql before it.
-- Parameters: $1 tenant, $2 person, $3 act, $4 object ('': any), $5 from_ms, and before $6 at_ms, $7 sequence; $8 limit
-- Result: sequence, at_ms, tenant, person, address, request_id, act, object, detail
-- Locks: none
select a.sequence, a.at_ms, a.tenant, a.person, a.address, a.request_id, a.act, a.object, a.detail
  from tenure.audit a
 where a.tenant = $1::text and a.at_ms >= $5::bigint and (a.at_ms, a.sequence) < ($6::bigint, $7::bigint)
   and ($2::text = '' or a.person = $2::text) and ($3::text = '' or a.act = $3::text)
   and ($4::text = '' or a.object = $4::text)
 order by a.at_ms desc, a.sequence desc
 limit $8::bigint
