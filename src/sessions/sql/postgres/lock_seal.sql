-- Whoever closes a usage window holds the seal alone: all who read the clock before it have committed (usage_seal.hpp).
-- Lock order: the seal, before session_bounds. Those who start or end sessions queue behind this one, so it gives up
-- soon: a process that was paused in the middle of its transaction must not hold up everybody.
-- Result: one row
select set_config('lock_timeout', '200', true), pg_advisory_xact_lock(hashtext('tenure.seal'))::text
