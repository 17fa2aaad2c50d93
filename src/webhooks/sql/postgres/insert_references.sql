-- Messages of topics, with the event that they are of: it stays for as long as there is one. Parameters: $1 event_id[], $2 message_id[]
-- Locks: none but of the new rows
insert into tenure.webhook_references (event_id, message_id)
select item.event_id, item.message_id from unnest($1::uuid[], $2::uuid[]) as item (event_id, message_id)
