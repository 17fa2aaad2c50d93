-- Takes machine and session out of seats that are written in the next statement, and whose machine or session is written
-- into another one: each of the two stands in one seat at most, and PostgreSQL checks that row by row.
-- Parameters: $1 license_id[], $2 slot[]; each pair once
-- Lock order: under the locks of lock_licenses.sql
update tenure.seats s
   set session_id = null, machine = null, ticket_id = null
  from unnest($1::uuid[], $2::bigint[]) as item (license_id, slot)
 where s.license_id = any (array[item.license_id]) and s.slot = item.slot
