-- Gives a licence a key, unless its organisation has one like it. ?1 tenant, ?2 key_hash, ?3 license_id, ?4 hint
-- Result: 1; no row: it is taken
insert into license_keys (tenant, key_hash, license_id, hint, until_ms) values (?1, ?2, ?3, ?4, 0)
on conflict (tenant, key_hash) do nothing
returning 1
