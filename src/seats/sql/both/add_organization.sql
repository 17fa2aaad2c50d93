-- Makes the row of an organisation, unless it is there. Parameters: $1 id, $2 name, $3 contact_email, $4 metadata, $5 now_ms
-- Result: 1 when it is new
-- Lock order: organisations, before licences
insert into tenure.organizations (id, name, contact_email, metadata, created_ms)
values ($1::text, $2::text, $3::text, $4::text, $5::bigint)
on conflict (id) do nothing
returning 1
