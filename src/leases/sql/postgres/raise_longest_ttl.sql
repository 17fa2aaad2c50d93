-- Remembers the longest ttl that was ever granted: for so long some name may be frozen after a new incarnation.
-- Parameters: $1 ttl_ms
-- Lock order: the store's row, last of all
update tenure.store set longest_ttl_ms = $1::bigint where longest_ttl_ms < $1::bigint
