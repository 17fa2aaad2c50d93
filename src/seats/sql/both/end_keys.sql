-- Lets the other keys of a licence end. Parameters: $1 license_id, $2 key_hash of the one that stays, $3 until_ms
-- Lock order: license_keys, after the licence
update tenure.license_keys
   set until_ms = case when until_ms = 0 or until_ms > $3::bigint then $3::bigint else until_ms end
 where license_id = $1::uuid and key_hash <> $2::bytea
