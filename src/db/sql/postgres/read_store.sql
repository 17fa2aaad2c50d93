-- Who this store is, which standbys must have a commit before it is answered ('' for none), how far its log goes,
-- and on which timeline;
-- which table it is; and when the server process of this connection was started.
-- Result: installation, incarnation, identity, synchronous_standby_names, the log's position, timeline, oid,
-- backend_start
select installation::text, incarnation::text, identity, current_setting('synchronous_standby_names'),
       (pg_current_wal_insert_lsn() - '0/0')::text, substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8),
       tableoid::bigint::text, (select backend_start::text from pg_stat_get_activity(pg_backend_pid()))
  from tenure.store
