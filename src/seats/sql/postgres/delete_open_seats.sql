-- Deletes so many seats of a licence that are to be had, whichever they are. All others that are open were deleted or
-- written before, in this transaction.
-- Parameters: $1 license_id[]; each once; $2 how many[]
-- Lock order: under the locks of lock_licenses.sql
delete from tenure.seats s
 using (select item.license_id, gone.slot
          from unnest($1::uuid[], $2::bigint[]) as item (license_id, count)
         cross join lateral (select o.slot from tenure.seats o
                              where o.license_id = item.license_id and o.open = 1
                              order by o.lapsed_ms, o.slot limit item.count) gone) g
 where s.license_id = g.license_id and s.slot = g.slot
