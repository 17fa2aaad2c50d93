-- Prolongs claims; a HOT update. Parameters: $1 id[], $2 lease_until_ms[]; each id once
-- Lock order: under the locks of lock_messages.sql
update tenure.messages m set lease_until_ms = item.lease_until_ms
  from unnest($1::uuid[], $2::bigint[]) as item (id, lease_until_ms)
 where m.id = any (array[item.id])
