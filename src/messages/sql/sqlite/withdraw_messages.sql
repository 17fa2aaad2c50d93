-- Takes a message back that nobody has claimed. ?1 id. Result: id
delete from messages where id = ?1 and lease_until_ms = 0 returning id
