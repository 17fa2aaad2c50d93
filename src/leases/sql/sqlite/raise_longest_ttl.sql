-- Remembers the longest ttl that was ever granted: for so long some name may be frozen after a new incarnation. ?1 ttl_ms
update store set longest_ttl_ms = ?1 where longest_ttl_ms < ?1
