-- Workers that left, or were given up for dead under lock. Parameters: $1 worker[]
delete from tenure.message_workers where worker = any ($1::bigint[])
