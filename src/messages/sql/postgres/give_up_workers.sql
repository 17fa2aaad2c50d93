-- Workers that are given up: a heartbeat of theirs is refused from now on. Parameters: $1 worker[]
-- Lock order: under the locks of lock_dead_workers.sql
update tenure.message_workers set expires_ms = 0 where worker = any ($1::bigint[])
