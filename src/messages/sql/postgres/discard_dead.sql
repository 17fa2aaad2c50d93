-- Puts dead letters away for good. Parameters: $1 id[]
-- Lock order: under the locks of lock_dead.sql
delete from tenure.dead_letters where id = any ($1::uuid[])
