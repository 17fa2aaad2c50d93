-- The highest revision of any tenant's bots; 0: there is none. Under the bots lock, where it decides something.
-- Result: revision
-- Locks: none
select coalesce(max(revision), 0) from tenure.bot_files
