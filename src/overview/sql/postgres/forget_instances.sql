-- Forgets processes that were not seen for long. Parameters: $1 the first seen_ms that is kept
-- Locks: their rows; who finds one locked leaves it to the other
delete from tenure.instances
 where instance in (select instance from tenure.instances where seen_ms < $1::bigint order by instance for update skip locked)
