-- The bodies of events. Parameters: $1 event_id[], $2 body[]
-- Locks: none but of the new rows
insert into tenure.webhook_payloads (event_id, body)
select item.event_id, item.body from unnest($1::uuid[], $2::bytea[]) as item (event_id, body)
