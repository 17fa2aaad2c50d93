-- Whoever starts or ends a session holds the seal, shared with others who do: no usage window is closed between its
-- reading of the clock and its COMMIT (usage_seal.hpp).
-- Lock order: the seal, then session_keys. It is waited for only while a window is being closed, for milliseconds.
select pg_advisory_xact_lock_shared(hashtext('tenure.seal'))::text
