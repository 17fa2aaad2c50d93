-- Gives a licence a key, unless its organisation has one like it. Parameters: $1 tenant, $2 key_hash, $3 license_id, $4 hint
-- Result: 1; no row: it is taken
-- Lock order: license_keys, after the licence; it waits only for a transaction that gives the very same key
insert into tenure.license_keys (tenant, key_hash, license_id, hint, until_ms)
values ($1::text, $2::bytea, $3::uuid, $4::text, 0)
on conflict (tenant, key_hash) do nothing
returning 1
