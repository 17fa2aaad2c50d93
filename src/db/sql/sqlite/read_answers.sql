-- An answer that was given before. Parameters: ?1 name. Result: body_hash, status, body, location
select body_hash, status, body, location from answers where name = ?1
