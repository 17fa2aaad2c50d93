-- A new revision of a tenant's bots. Under the bots lock.
-- Parameters: $1 revision, $2 tenant, $3 content, $4 applied_ms, $5 person
-- Lock order: bot_files, after the bots lock
insert into tenure.bot_files (revision, tenant, content, applied_ms, person)
values ($1::bigint, $2::text, $3::text, $4::bigint, $5::text)
