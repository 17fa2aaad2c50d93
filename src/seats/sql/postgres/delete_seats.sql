-- Deletes seats that nobody holds. Parameters: $1 license_id[], $2 slot[]; each pair once
-- Lock order: under the locks of lock_licenses.sql
delete from tenure.seats s
 using unnest($1::uuid[], $2::bigint[]) as item (license_id, slot)
 where s.license_id = any (array[item.license_id]) and s.slot = item.slot
