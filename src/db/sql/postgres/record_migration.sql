-- Notes that a migration was applied, in its own transaction.
-- Parameters: $1 version, $2 name, $3 checksum, $4 oldest program that can live with it
insert into tenure.migrations (version, name, checksum, oldest_program, applied_at)
values ($1::int, $2::text, $3::text, $4::text, now())
