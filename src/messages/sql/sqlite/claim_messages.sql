-- Hands a message out. ?1 place, as find_ready.sql found it in this transaction, ?2 fence, ?3 lease_until_ms, ?4 worker,
-- ?5 now_ms
update messages set fence = ?2, lease_until_ms = ?3, worker = ?4, claimed_ms = ?5 where seq = ?1
