-- Who this store is, and which standbys must have a commit before it is answered ('' for none).
-- Result: installation, incarnation, identity, synchronous_standby_names
select installation::text, incarnation::text, identity, current_setting('synchronous_standby_names') from tenure.store
