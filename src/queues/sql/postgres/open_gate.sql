-- The gate of a queue: a row that never changes. Parameter: $1 tenant, $2 name
insert into tenure.queue_gates (queue_id)
select q.queue_id from tenure.queues q where q.tenant = $1::text and q.name = $2::text
on conflict (queue_id) do nothing
