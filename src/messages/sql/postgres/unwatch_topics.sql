-- This process need not be told any more. Parameters: $1 tenant[], $2 topic[], $3 process
-- Lock order: rows of this process only
delete from tenure.message_waiters w using unnest($1::text[], $2::text[]) as item (tenant, topic)
 where w.tenant = item.tenant and w.topic = item.topic and w.process = $3
