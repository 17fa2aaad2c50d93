-- Workers that left. Parameters: $1 worker[]
delete from tenure.message_workers where worker = any ($1::bigint[])
