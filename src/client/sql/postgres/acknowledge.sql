-- Acknowledges a message in the transaction of its effect. Parameters: $1 id, $2 fence. Raises TN001 when it is stale.
-- Locks: as tenure.acknowledge
select tenure.acknowledge($1::uuid, $2::bigint)
