-- One maintenance transaction at a time in the whole ensemble. Held to the end of the transaction.
-- Lock order: this lock is the first that such a transaction takes.
select pg_advisory_xact_lock(hashtext('tenure.maintenance'))::text
