-- Writes an organisation as it is now. Parameters: $1 id, $2 name, $3 contact_email, $4 metadata
-- Lock order: under the lock of lock_organization.sql
update tenure.organizations set name = $2::text, contact_email = $3::text, metadata = $4::text where id = $1::text
