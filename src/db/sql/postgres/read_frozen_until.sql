-- Until when the name with the longest freeze is not granted (docs/ground.md, Incarnation): names without a row for
-- freeze_ms, others for the longest ttl that they were granted for if that is longer. Looks at all names.
-- Result: frozen_until_ms; no row when no incarnation freezes
-- Locks: none
select incarnation_ms + greatest(freeze_ms, (select coalesce(max(l.longest_ttl_ms), 0) from tenure.leases l))
  from tenure.store where incarnation_ms > 0
