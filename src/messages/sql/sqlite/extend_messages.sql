-- Prolongs a claim. ?1 id, ?2 lease_until_ms
update messages set lease_until_ms = ?2 where id = ?1
