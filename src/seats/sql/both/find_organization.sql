-- An organisation. Parameters: $1 id. Result: id, name, contact_email, metadata, created_ms
-- Locks: none
select id, name, contact_email, metadata, created_ms from tenure.organizations where id = $1::text
