-- This process wants to be told of messages of these topics. Parameters: $1 tenant[], $2 topic[], $3 process, $4 until_ms
-- Lock order: rows of this process only
insert into tenure.message_waiters (tenant, topic, process, until_ms)
select item.tenant, item.topic, $3, $4 from unnest($1::text[], $2::text[]) as item (tenant, topic)
on conflict (tenant, topic, process) do update set until_ms = excluded.until_ms
