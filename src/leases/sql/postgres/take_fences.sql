-- Which of the locked names may change their fence: those without a guard, that is, without a user's transaction that
-- called check_fence and is still open. Skips the others instead of waiting for them. From here on until COMMIT a new
-- guard waits, and then finds the fence that it asked for gone.
-- Parameters: $1 tenant[], $2 name[]; each once, locked by lock_names.sql (so only guards can be in the way)
-- Result: ordinal of each name that is not guarded
-- Lock order: the same rows again, without waiting
select item.ordinal
  from unnest($1::text[], $2::text[]) with ordinality as item (tenant, name, ordinal)
  join tenure.leases l on l.tenant = any (array[item.tenant]) and l.name = item.name
   for update of l skip locked
