-- The migrations that this store has. Result: version, name, checksum, oldest_program; by version
select version, name, checksum, oldest_program from migrations order by version
