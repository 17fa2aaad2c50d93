-- What has entered its session. Parameters: $1 id[]; each once
-- Lock order: rows that only whoever holds their session's lock removes
delete from tenure.queue_staged s using unnest($1::uuid[]) as item (id) where s.id = any (array[item.id])
