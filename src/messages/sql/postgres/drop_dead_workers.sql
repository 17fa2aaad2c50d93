-- Workers that were given up and of whose claims nothing is left to look at. Parameters: $1 worker[]
-- Lock order: under the locks of lock_dead_workers.sql
delete from tenure.message_workers w
 where w.worker = any ($1::bigint[])
   and not exists (select from tenure.message_claims c where c.worker = any (array[w.worker]))
