-- Notes that a migration was applied, in its own transaction.
-- Parameters: ?1 version, ?2 name, ?3 checksum, ?4 oldest program that can live with it
insert into migrations (version, name, checksum, oldest_program, applied_at)
values (cast(?1 as integer), ?2, ?3, ?4, datetime('now'))
